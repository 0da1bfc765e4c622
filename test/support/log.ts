/** The time of day with which each line of a log begins. */
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d /;

/** A line of a log without the time of day in front, and without the spaces that align its columns. */
export function withoutTimeOfDay(line: string): string {
  if (TIME_OF_DAY.test(line)) return line.replace(TIME_OF_DAY, '').replace(/ +/g, ' ');
  throw new Error(`The line of the log has no time of day in front: ${line}`);
}

/** A line of a log without its time of day, and with `_` for how long something took and for the id in a link. */
export function withoutTimes(line: string): string {
  return withoutTimeOfDay(line)
    .replace(/ \d+(?:\.\d)? ms/, ' _ ms')
    .replace(/ http:\/\/127\.0\.0\.1:\d+\/__mock\/#\/webhooks\/[\da-f-]{36}$/, ' (link)');
}
