import { countStart } from './entries.ts';

/** Counts times in ISO 8601 UTC, within any span; the time that this takes does not grow with the number of times. */
export class Timeline {
  readonly #times: string[] = [];

  add(time: string): void {
    this.#times.splice(this.#countUntil(time), 0, time);
  }

  /** Removes a time, which must have been added. */
  remove(time: string): void {
    this.#times.splice(this.#countUntil(time) - 1, 1);
  }

  /** Counts the times from `from` to `to`, both included; `from` is not later. */
  count(from: string, to: string): number {
    return this.#countUntil(to) - countStart(this.#times, (time) => time < from);
  }

  /** Counts the times that are not later than this one. */
  #countUntil(time: string): number {
    return countStart(this.#times, (other) => other <= time);
  }
}
