import { domainOf } from '../../contract/addresses/email-address.ts';
import { createSeededRandom } from '../../world/seeded-randomness.ts';

/** The values with which the mails of a sample are written. The same seed gives the same context. */
export interface SampleContext {
  /** The bare addresses of the recipients. */
  readonly recipients: readonly string[];
  /** A part of each Message-ID, because a sample and its twin have the same marker but need different Message-IDs. */
  readonly suffix: string;
  /** The values for the placeholders in texts. */
  readonly values: SampleValues;
}

/** The values that texts name by placeholders such as `{number}`. */
export interface SampleValues {
  /** The bare address of the first recipient. */
  readonly inbox: string;
  /** The name, the first name and the bare address of the person who usually writes. */
  readonly name: string;
  readonly firstName: string;
  readonly address: string;
  /** A number of five digits, for example the number of an order. */
  readonly number: string;
  /** The two parts of a code. No mail contains the joined code. */
  readonly one: string;
  readonly other: string;
  /** The code as words: for each letter, a word that begins with this letter. */
  readonly spelled: string;
  /** The start of every Message-ID of the sample. */
  readonly marker: string;
  /** The Message-ID of the mail that the sample is about. */
  readonly about: string;
  /** The URL of the emulator. */
  readonly baseUrl: string;
}

/** The options from which a context is created. */
export interface ContextOptions extends Pick<SampleContext, 'recipients' | 'suffix'>, Pick<SampleValues, 'baseUrl'> {
  /** The name of the sample. A sample and its twin have the same name here. */
  readonly name: string;
  readonly seed: number;
  readonly about: string | undefined;
}

const FIRST_NAMES = ['Dana', 'Kim', 'Amina', 'Jonas', 'Priya'];
const LAST_NAMES = ['Reyes', 'Okafor', 'Lindqvist', 'Novak', 'Tanaka'];

/**
 * The characters of codes. They are neither vowels nor hexadecimal digits, so that a code is neither a word nor a part
 * of an id.
 */
const CODE_CHARACTERS = 'GHJKLMNPQRSTVWXZ';

/** For each character of `CODE_CHARACTERS`, a word that begins with it. */
const WORDS =
  'Golf Hotel Juliet Kilo Lima Mike November Papa Quebec Romeo Sierra Tango Victor Whiskey X-ray Zulu'.split(' ');

/** Creates the context of a sample. */
export function createSampleContext({ name, seed, about, baseUrl, recipients, suffix }: ContextOptions): SampleContext {
  const random = createSeededRandom(seed);
  random.mix(name);
  const pick = <Item>(items: ArrayLike<Item>) => items[(random(1)[0] ?? 0) % items.length] as Item;
  const text = (characters: string, length: number) => Array.from({ length }, () => pick(characters)).join('');
  const [firstName, lastName] = [pick(FIRST_NAMES), pick(LAST_NAMES)];
  const marker = text('0123456789abcdef', 12);
  const [inbox = ''] = recipients;
  const number = `1${text('0123456789', 4)}`;
  const [one, other] = [text(CODE_CHARACTERS, 4), text(CODE_CHARACTERS, 4)];
  const values = {
    inbox,
    baseUrl,
    marker,
    firstName,
    name: `${firstName} ${lastName}`,
    number,
    address: `${firstName}.${lastName}@customer.test`.toLowerCase(),
    one,
    other,
    spelled: [...one, ...other].map((letter) => WORDS[CODE_CHARACTERS.indexOf(letter)]).join(', '),
    about: about ?? `<${marker}.sent@${domainOf(inbox)}>`,
  };
  return { recipients, suffix, values };
}

/** Replaces the placeholders in a text, such as `{number}`. */
export function fill(text: string, { values }: SampleContext): string {
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name as keyof SampleValues] ?? all);
}
