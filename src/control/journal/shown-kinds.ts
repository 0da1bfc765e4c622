import { messageOf } from '../../basics/named-error.ts';
import type { KeptRequest, MailEvent, TestChange } from '../../service/journal/entry-data.ts';
import type { Entry, EntryKind, FeedKind } from '../../service/journal/entry-kinds.ts';
import { CorrespondentError } from '../../service/mail/correspondents/correspondent.ts';
import { showView } from '../../service/mail/mail-views.ts';
import { showMailAsItWas } from '../../service/mail/show-mail.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import { showRow } from '../../world/store/state.ts';
import {
  attemptLine,
  describeChange,
  type Line,
  limitText,
  nameTenant,
  nameWithoutOperation,
  problemLine,
} from './entry-line.ts';
import type { FeedData, FeedEvent, FeedMail } from './feed-event.ts';
import { actionOf, isRefused } from './from-entries/call-of.ts';
import { EXCERPT_LENGTH } from './from-entries/feed-entries.ts';
import type { JournalData, JournalMail } from './journal-entry.ts';
import type { RequestSummary } from './request-entry.ts';
import { idFor, type JournalReader, showRequest, showSummary } from './show-request.ts';

/** For whom an entry is shown, and what hides the secrets in it. */
export interface EntryView {
  readonly reader: JournalReader;
  readonly mask: Mask;
}

/** How the journal shows a kind of entry. */
interface ShownInJournal<Kind extends EntryKind> {
  /** Returns the details of an entry. */
  show(entry: Entry<Kind>, view: EntryView): JournalData[Kind];
  /** Whether only a query that names the kind finds these entries, because others have their contents, too. */
  readonly isOnlyNamed?: true;
}

/** How the feed, the log of the server and `logs` show a kind of entry, too. */
interface ShownInFeed<Kind extends FeedKind> extends ShownInJournal<Kind> {
  /** Returns the details of an entry without what may be long. */
  showInFeed(entry: Entry<Kind>, view: EntryView): FeedData[Kind];
  /**
   * Describes an entry in one line. The default name of the line is the kind. Returns undefined if another entry has a
   * line with more.
   */
  line(data: FeedData[Kind]): LineParts | undefined;
  /** Whether the log of the server has the line. It has a line of its own for each request. */
  readonly isInLog: boolean;
}

type LineParts = Omit<Line, 'name'> & Partial<Line>;

/** Returns the details of an entry as they are, with all secrets masked. */
const asItIs = <Data extends object>({ data }: { readonly data: Data }, { mask }: EntryView): Data => mask.deep(data);

const showKept = ({ data }: { readonly data: KeptRequest }, { reader, mask }: EntryView) =>
  showRequest(data, reader, mask);
const summariseKept = ({ data }: { readonly data: KeptRequest }, { reader, mask }: EntryView) =>
  showSummary(data, reader, mask);

const requestRow = { show: showKept, showInFeed: summariseKept, line: requestLine, isInLog: false };
const changeRow = { show: asItIs<TestChange>, showInFeed: asItIs<TestChange>, line: changeLine, isInLog: false };

/** How each kind of entry is shown. */
const SHOWN_KINDS: {
  readonly [Kind in EntryKind]: Kind extends FeedKind ? ShownInFeed<Kind> : ShownInJournal<Kind>;
} = {
  'mail-at-start': { show: showMail, isOnlyNamed: true },
  'mail-received': {
    show: showMail,
    showInFeed: showMailInFeed,
    line: ({ inbox, mail }) => ({ name: 'mail', sign: '←', text: `to ${inbox} from ${mail.from}: ${mail.subject}` }),
    isInLog: true,
  },
  'mail-sent': {
    show: showMail,
    showInFeed: showMailInFeed,
    line: ({ inbox, mail: { to, subject } }) => {
      return { name: 'mail', sign: '→', text: `from ${inbox} to ${to.join(', ')}: ${subject}` };
    },
    isInLog: false,
  },
  'mail-bounced': { show: showMail },
  'mail-triggered': { show: showMail },
  'mail-held': {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ reason }) => ({ name: 'mail', sign: '!', text: `held: ${reason}`, colourStatus: 429 }),
    isInLog: true,
  },
  request: requestRow,
  'mail-command': requestRow,
  refusal: { show: asItIs },
  'refused-request': { show: showKept, isOnlyNamed: true },
  read: {
    show({ data }, { reader, mask }) {
      const { number: _, numberInSandbox: _own, call, ...read } = data;
      return mask.deep({ request: idFor(reader, data), ...call, ...read });
    },
  },
  change: {
    show({ data: { row, ...change } }, { mask }) {
      return { ...change, row: row && mask.deep(showRow(row)) };
    },
  },
  'delivery-created': {
    show: asItIs,
    showInFeed: asItIs,
    // A delivery that is sent at once has the line of its first attempt.
    line: (delivery) => (delivery.state === 'held' ? problemLine(delivery, 403) : undefined),
    isInLog: true,
  },
  'delivery-released': {
    show: asItIs,
    showInFeed: asItIs,
    // The attempt that follows has its own line.
    line: () => undefined,
    isInLog: false,
  },
  attempt: {
    show: asItIs,
    showInFeed({ data }, { mask }) {
      const { responseHeaders, responseBody, thrown, ...attempt } = data;
      return mask.deep(attempt);
    },
    line: attemptLine,
    isInLog: true,
  },
  'delivery-ended': {
    show: asItIs,
    showInFeed: asItIs,
    line: (delivery) => problemLine(delivery, delivery.state === 'failed' ? 500 : 403),
    isInLog: true,
  },
  'stream-opened': {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ tier, key }) => ({ name: 'stream', text: `opened with the ${tier} key ${key}` }),
    isInLog: true,
  },
  'stream-closed': {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ tier, key }) => ({ name: 'stream', text: `closed; it was opened with the ${tier} key ${key}` }),
    isInLog: true,
  },
  frame: { show: asItIs },
  'agent-done': {
    show: asItIs,
    showInFeed: asItIs,
    line: () => ({ name: 'agent', text: 'said that it is done' }),
    isInLog: false,
  },
  correspondent: { show: asItIs },
  sample: { show: asItIs },
  fault: {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ action, fault }) => ({ text: fault ? `${action}: ${JSON.stringify(fault)}` : 'all removed' }),
    isInLog: false,
  },
  clock: {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ action, now, tenantId }) => ({ text: `${action}, ${nameTenant(tenantId)}: ${now}` }),
    isInLog: false,
  },
  sandbox: changeRow,
  checkpoint: changeRow,
  key: changeRow,
  journal: changeRow,
  messages: {
    show: asItIs,
    showInFeed({ data }, { mask }) {
      const { messageIds, ...change } = data;
      return mask.deep(change);
    },
    line: changeLine,
    isInLog: false,
  },
  behaviours: changeRow,
  reset: {
    show: asItIs,
    showInFeed: asItIs,
    line: ({ tenantId }) => ({ text: tenantId === null ? 'all data' : `sandbox ${tenantId}` }),
    isInLog: false,
  },
  failure: {
    show: showFailure,
    showInFeed: showFailure,
    line({ failed, error }) {
      const isBug = failed === 'emulator';
      const text = isBug ? `The emulator failed because of a bug in it: ${error}.` : `${error}.`;
      return { name: failed, sign: '!', text, colourStatus: 500 };
    },
    isInLog: true,
  },
};

/** The kinds of entries of which the log of the server has a line. */
export const LOGGED_KINDS = (Object.keys(SHOWN_KINDS) as FeedKind[]).filter((kind) => SHOWN_KINDS[kind].isInLog);

/** Returns whether a query finds entries of a kind without naming it. */
export function isFoundUnnamed(kind: EntryKind): boolean {
  return !SHOWN_KINDS[kind].isOnlyNamed;
}

/** Returns the details of an entry as the journal shows them. */
export function showData(entry: Entry, view: EntryView): object {
  return (SHOWN_KINDS[entry.kind] as ShownInJournal<EntryKind>).show(entry, view);
}

/** Returns the details of an entry as the feed shows them. */
export function showInFeed<Kind extends FeedKind>(entry: Entry<Kind>, view: EntryView): FeedData[Kind] {
  return (SHOWN_KINDS[entry.kind] as ShownInFeed<Kind>).showInFeed(entry, view);
}

/** Returns the line of an entry; undefined if another entry has a line with more. */
export function lineOf<Kind extends FeedKind>(kind: Kind, data: FeedData[Kind]): Line | undefined {
  const line = (SHOWN_KINDS[kind] as ShownInFeed<Kind>).line(data);
  return line && limitText({ name: kind, ...line });
}

const UNKNOWN = 'an unknown number of';

/** Returns the line of an event of the feed; undefined if another event has a line with more. */
export function lineOfEvent(event: FeedEvent): Line | undefined {
  if (event.kind !== 'gap') return lineOf(event.kind, event.data);
  const text = `${event.missed ?? UNKNOWN} events are missing here`;
  return { name: 'gap', sign: '!', text, colourStatus: 400 };
}

function requestLine(request: RequestSummary): LineParts {
  const { operation, protocol, via, path, code, durationMs, key, reason, ignored = [] } = request;
  const notes = [
    ...(via ? ['by MCP'] : []),
    ...(reason === null ? [] : [reason]),
    ...ignored.map((each) => `ignored: ${each}`),
  ];
  const parts = [
    actionOf(request),
    path,
    code,
    `${durationMs.toFixed(1)} ms`,
    key,
    ...notes.map((note) => `(${note})`),
  ];
  const name = operation ?? (protocol === 'http' ? nameWithoutOperation(path) : protocol);
  const text = parts.filter((part) => part !== null).join(' ');
  if (request.protocol === 'http') return { name, sign: request.status, text, colourStatus: request.status };
  return { name, sign: request.result, text, colourStatus: isRefused(request) ? 403 : 200 };
}

function changeLine(change: TestChange): LineParts {
  return { text: describeChange(change) };
}

function showFailure({ data: { error } }: Entry<'failure'>, { mask }: EntryView): JournalData['failure'] {
  const failed = error instanceof CorrespondentError ? 'correspondent' : 'emulator';
  return { failed, error: mask.text(messageOf(error)) };
}

/** The fields of a mail in the journal that say how it came and went. */
function showRoute({ id: eventId, inbox, source, routes, forwardOf, bounce, lacksBytes }: MailEvent) {
  const shown: { -readonly [Field in keyof Omit<JournalMail, 'mail'>]: JournalMail[Field] } = {
    eventId,
    inbox,
    source,
  };
  if (routes) shown.routes = routes;
  if (forwardOf !== undefined) shown.forwardOf = forwardOf;
  if (bounce) shown.bounce = bounce;
  if (lacksBytes) shown.lacksBytes = lacksBytes;
  return shown;
}

/** Shows a mail as it was. It is not masked, because verdicts compare it. */
function showMail({ tenantId, data }: { readonly tenantId: string | null; readonly data: MailEvent }): JournalMail {
  return { ...showRoute(data), mail: showMailAsItWas(tenantId ?? '', data.message, data.attachments) };
}

/** How many characters of a text are searched for secrets before it is cut. */
const MAX_SEARCHED_LENGTH = 4096;

function showMailInFeed(
  entry: { readonly tenantId: string | null; readonly data: MailEvent },
  view: EntryView,
): FeedMail {
  const { mask } = view;
  const { plainBody, htmlBody: _, ...mail } = showView('mail', entry.tenantId ?? '', entry.data.message);
  // The text is masked before it is cut, because a part of a secret could not be found.
  const excerpt = mask.text(plainBody.trim().slice(0, MAX_SEARCHED_LENGTH)).slice(0, EXCERPT_LENGTH);
  return mask.deep({ ...showRoute(entry.data), mail: { ...mail, plainBody: excerpt } });
}
