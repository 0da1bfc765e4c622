import { z } from 'zod';
import { foldAddress } from '../../basics/domain-name.ts';
import { lazy } from '../../basics/lazy-schema.ts';
import { expected, text } from '../schemas.ts';
import {
  isBareAddress,
  isIncomingAddress,
  MAX_ADDRESS_LENGTH,
  MAX_ADDRESSES,
  parseAddress,
  splitAddresses,
} from './email-address.ts';

const AN_ADDRESS = 'an e-mail address such as ada@example.com or Ada <ada@example.com>';

const addressText = (isAddress: (text: string) => boolean) =>
  lazy(() =>
    z
      .string({ error: expected('a string') })
      .max(MAX_ADDRESS_LENGTH, { error: `must be at most ${MAX_ADDRESS_LENGTH} characters long`, abort: true })
      .refine(isAddress, `must be ${AN_ADDRESS}`),
  );

/** One address, bare or in display form. */
export const emailAddress = addressText((text) => parseAddress(text) !== undefined);

const isIncomingText = (text: string) => parseAddress(text, isIncomingAddress) !== undefined;

/** One address of mail from outside, bare or in display form. It may be international (RFC 6532). */
export const incomingAddress = addressText(isIncomingText);

/**
 * An address in the header of a stored mail, to which it may be impossible to send: an address like
 * {@link incomingAddress}, one without a domain in angle brackets (`Cron <root>`), or a name in quotation marks without
 * an address. Without these marks, a text without a domain is a mistake of its author.
 */
const isHeaderText = (text: string) => isIncomingText(text) || (/[<"]/.test(text) && isAnyAddress(text));

const isAnyAddress = (text: string) => parseAddress(text, () => true) !== undefined;

/** One address in the header of a stored mail. */
export const headerAddress = addressText(isHeaderText);

/** The sender of a stored mail: an address like {@link headerAddress}, or empty if the mail has no sender. */
export const senderAddress = addressText((text) => text === '' || isHeaderText(text));

/** One bare address; parsing converts it to lower case, and its domain to the ASCII form. */
export const bareEmail = lazy(() =>
  z
    .string({ error: expected('a string') })
    .max(254, { error: 'must be at most 254 characters long', abort: true })
    .refine(isBareAddress, 'must be an e-mail address such as ada@example.com')
    .transform(foldAddress)
    .meta({ type: 'string', format: 'email' }),
);

/** Maximum length of a text with a list of addresses, in characters. */
const MAX_LIST_LENGTH = MAX_ADDRESSES * MAX_ADDRESS_LENGTH;

/** Returns what an address in a list must be, and the invalid address. */
export function describeWrongAddress(address: string): string {
  return `must be ${AN_ADDRESS}, not ${JSON.stringify(address.slice(0, 100))}`;
}

/** A text with one address, or with several addresses separated by commas. */
const addressesInText = () =>
  z.string({ error: expected('a string') }).check(({ value, issues }) => {
    if (value.length > MAX_LIST_LENGTH) {
      const message = `must be at most ${MAX_LIST_LENGTH} characters long`;
      const maximum = MAX_LIST_LENGTH;
      issues.push({ code: 'too_big', origin: 'string', maximum, input: value, message, continue: true });
      return;
    }
    const parts = splitAddresses(value);
    const wrong = parts.find((address) => !emailAddress().safeParse(address).success);
    if (wrong === undefined) return;
    const message = parts.length === 1 ? `must be ${AN_ADDRESS}` : `between its commas ${describeWrongAddress(wrong)}`;
    issues.push({ code: 'custom', input: value, message, continue: true });
  });

const severalAddresses = () => z.array(emailAddress()).meta({ maxItems: MAX_ADDRESSES });

// The size is checked after the union, because Zod does not report the size errors of the members of a union.
const atMostFifty = () =>
  z.check<string[]>(({ value, issues }) => {
    if (value.length <= MAX_ADDRESSES) return;
    const message = `must list at most ${MAX_ADDRESSES} addresses`;
    issues.push({ code: 'too_big', origin: 'array', maximum: MAX_ADDRESSES, input: value, message });
  });

const wrongType = expected('an e-mail address or an array of them');

/** One or several addresses in a request. The parsed value is always a list. */
export const emailAddresses = lazy(() =>
  z
    .union([severalAddresses(), addressesInText()], { error: wrongType })
    .transform((addresses) => (typeof addresses === 'string' ? splitAddresses(addresses) : addresses))
    .check(atMostFifty())
    .meta({ description: 'Addresses, bare or in display form: an array, or one string with commas between them.' }),
);

/** One or several addresses, like {@link emailAddresses}, but a string must be exactly one address. */
export const emailAddressOrArray = lazy(() =>
  z
    .union([severalAddresses(), emailAddress()], { error: wrongType })
    .transform((addresses) => [addresses].flat())
    .check(atMostFifty())
    .meta({ description: 'One address or an array of them, bare or in display form.' }),
);

/** One or several addresses of a draft, which may be incomplete. The parsed value is always a list. */
export const unvalidatedAddresses = lazy(() =>
  z
    .union([z.array(text(MAX_ADDRESS_LENGTH)).meta({ maxItems: MAX_ADDRESSES }), text(MAX_LIST_LENGTH)], {
      error: expected('a string or an array of strings'),
    })
    .transform((written) => (typeof written === 'string' ? splitAddresses(written) : written))
    .transform((parts) => parts.filter((part) => part.trim() !== ''))
    .check(atMostFifty())
    .meta({ description: 'Addresses that may be incomplete: an array, or one string with commas between them.' }),
);
