import { domainOf } from '../contract/emulator-domains.ts';
import { createSeededRandom } from '../seeded-randomness.ts';

/** The two parts of a code, which a mail never has in one piece. */
export type Code = readonly [one: string, other: string];

/** What the mails of a sample are written from. The same seed gives the same context. */
export interface SampleContext {
  /** The bare addresses of the recipients. */
  readonly to: readonly string[];
  /** The person who usually writes. */
  readonly person: { readonly name: string; readonly first: string; readonly address: string };
  /** A number of five digits, of an order for example. */
  readonly number: string;
  readonly code: Code;
  /** The start of every Message-ID of the sample. */
  readonly marker: string;
  /** The Message-ID of the mail that the sample is about. */
  readonly about: string;
  /** The URL of the emulator. */
  readonly baseUrl: string;
  /** A sample and its twin have the same marker, but different Message-IDs. */
  readonly suffix: string;
}

const FIRST_NAMES = ['Dana', 'Kim', 'Amina', 'Jonas', 'Priya', 'Mateo', 'Hanna', 'Tomas'];
const LAST_NAMES = ['Reyes', 'Okafor', 'Lindqvist', 'Novak', 'Haddad', 'Moreau', 'Keller', 'Tanaka'];

/** Without vowels and hexadecimal digits, so that a code is neither a word nor a part of an id. */
const CODE_CHARACTERS = 'GHJKLMNPQRSTVWXZ';

/** Creates the context of a sample. `name` is the same for a sample and its twin. */
export function createSampleContext(
  name: string,
  {
    seed,
    to,
    inReplyTo,
    baseUrl,
    suffix,
  }: { seed: number; inReplyTo: string | undefined } & Pick<SampleContext, 'to' | 'baseUrl' | 'suffix'>,
): SampleContext {
  const random = createSeededRandom(seed);
  random.mix(name);
  const pick = <Item>(items: ArrayLike<Item>) => items[(random(1)[0] ?? 0) % items.length] as Item;
  const text = (characters: string, length: number) => Array.from({ length }, () => pick(characters)).join('');
  const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)];
  const marker = text('0123456789abcdef', 12);
  return {
    ...{ to, baseUrl, suffix, marker },
    person: { name: `${first} ${last}`, first, address: `${first}.${last}@customer.test`.toLowerCase() },
    number: `1${text('0123456789', 4)}`,
    code: [text(CODE_CHARACTERS, 4), text(CODE_CHARACTERS, 4)],
    about: inReplyTo ?? `<${marker}.sent@${domainOf(to[0] ?? '')}>`,
  };
}
