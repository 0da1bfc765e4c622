/**
 * The timers and the `Date` of the platform. They are read when this file is loaded, because a test may replace the
 * global ones by fake timers later. What is promised in real time must not wait until such a test lets its own time pass.
 */
export const {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  performance,
  Date: RealDate,
} = globalThis;
