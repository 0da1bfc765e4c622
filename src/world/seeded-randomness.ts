import { parseOption, wholeNumber } from '../basics/check-options.ts';

/**
 * A source of bytes that are the same for the same seed. It replaces `Environment.randomBytes`. Never use it for real
 * keys.
 */
export interface SeededRandom {
  /** Returns the next bytes. */
  (length: number): Uint8Array;
  /** Saves the state. Returns a function that restores this state, so that the same bytes follow again. */
  save(): () => void;
  /** Makes the next bytes depend on this text, too. */
  mix(text: string): void;
}

/** How many bytes are skipped at the start and after `mix`, because similar states begin with similar bytes. */
const SKIPPED = 15;

/** The seeds that there are. */
export const SEED = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/**
 * Creates a source of bytes. All sources with the same seed return the same bytes.
 *
 * @throws {RangeError} unless the seed is a whole number from 0 to 2^53 - 1.
 */
export function createSeededRandom(seed: number): SeededRandom {
  parseOption('seed', SEED, seed);
  let state: Sfc32 = [seed >>> 0, Math.floor(seed / 2 ** 32), 0x9e3779b9, 1];
  const nextByte = () => {
    const sum = (state[0] + state[1] + state[3]) >>> 0;
    state = step(state, sum);
    // The high bits are distributed most evenly.
    return sum >>> 24;
  };
  const skip = () => void Array.from({ length: SKIPPED }, nextByte);
  skip();
  const next = (length: number) => Uint8Array.from({ length }, nextByte);
  return Object.assign(next, {
    mix(text: string) {
      for (const character of text) {
        const [a, ...rest] = state;
        state = [(a ^ (character.codePointAt(0) ?? 0)) >>> 0, ...rest];
        nextByte();
      }
      skip();
    },
    save() {
      const saved = state;
      return () => {
        state = saved;
      };
    },
  });
}

/** The state of the generator `sfc32` (small fast counter): three numbers of 32 bits, and a counter. */
type Sfc32 = readonly [number, number, number, number];

function step([_, b, c, counter]: Sfc32, sum: number): Sfc32 {
  const rotated = (c << 21) | (c >>> 11);
  return [(b ^ (b >>> 9)) >>> 0, (c + (c << 3)) >>> 0, (rotated + sum) >>> 0, (counter + 1) >>> 0];
}
