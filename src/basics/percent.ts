/**
 * Formats a share from 0 to 1 in percent, without decimals; `-` for null. `0 %` and `100 %` are exact: what is neither is
 * never rounded to one of them, but shown as `< 1 %` or `> 99 %`.
 */
export function formatPercent(share: number | null): string {
  if (share === null) return '-';
  const rounded = Math.round(share * 100);
  if (rounded === 0 && share > 0) return '< 1 %';
  if (rounded === 100 && share < 1) return '> 99 %';
  return `${rounded} %`;
}

/** How many decimals `formatPercentBeside` and `formatPercentExactly` show at most. */
const MAX_DECIMALS = 10;

/**
 * Formats a share in percent with as few decimals as show on which side of a limit it is: 0.796 beside 0.8 is `79.6 %`,
 * because `80 %` would say that the limit was reached.
 */
export function formatPercentBeside(share: number, limit: number): string {
  const short = formatPercent(share);
  // `< 1 %` and `> 99 %` leave open which of the limits between them and the end was reached.
  const isClear = !/^[<>]/.test(short) || limit === 0 || limit === 1 || (limit >= 0.01 && limit <= 0.99);
  if (isClear && isOnSide(Number.parseFloat(short.replace(/^[<>] /, '')) / 100, share, limit)) return short;
  for (let decimals = 1; decimals < MAX_DECIMALS; decimals += 1) {
    const text = (share * 100).toFixed(decimals);
    if (isOnSide(Number(text) / 100, share, limit)) return `${text} %`;
  }
  return formatPercentExactly(share);
}

function isOnSide(shown: number, share: number, limit: number): boolean {
  return Math.sign(shown - limit) === Math.sign(share - limit);
}

/** Formats a share that a person has given in percent, with all of its decimals: 0.805 is `80.5 %`. */
export function formatPercentExactly(share: number): string {
  return `${Number((share * 100).toFixed(MAX_DECIMALS))} %`;
}
