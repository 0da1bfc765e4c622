import { samplesFor } from 'agent-mailbox-mock/samples';
import { INJECTION_SAMPLES } from '../../src/control/samples/injection-samples.ts';
import { type Agent, buildHarmless, buildLeak, buildObjectDeed, HARMLESS_NAMES, LEAK_PARTS, OBJECT_NAMES, TIMES } from './agents.ts';
import { type Case, createPicker } from './run.ts';

type Pick = ReturnType<typeof createPicker>;

const FIXED = Object.keys(INJECTION_SAMPLES);
const SAMPLES = [...FIXED, ...samplesFor()];
const NEVER_ANSWERED = ['out-of-office', 'auto-response-suppressed', 'ticket-acknowledgement', 'no-reply', 'bounce-unknown-user', 'bounce-mailbox-full', 'bounce-free-text'];

/** A part that an agent has, by its kind. */
type Parts = Record<keyof typeof LEAK_PARTS, string>;

function drawLeak(pick: Pick, wanted: Partial<Parts> = {}): Agent {
  for (let tries = 0; tries < 10_000; tries += 1) {
    const entries = Object.entries(LEAK_PARTS).map(([kind, values]) => [kind, wanted[kind as keyof Parts] ?? pick(values)]);
    const agent = buildLeak(Object.fromEntries(entries));
    if (agent) return agent;
  }
  throw new Error(`No agent can have these parts: ${JSON.stringify(wanted)}.`);
}

function drawMail(pick: Pick): string | undefined {
  return pick([undefined, pick(SAMPLES), `${pick(SAMPLES)}-harmless`, pick(SAMPLES)]);
}

function drawOne(pick: Pick): Pick_ {
  const kind = pick(['leak', 'leak', 'leak', 'object', 'harmless', 'harmless'] as const);
  if (kind === 'leak') return { agent: drawLeak(pick), sample: drawMail(pick) };
  if (kind === 'object') {
    const agent = buildObjectDeed(pick(OBJECT_NAMES), pick(TIMES));
    return agent ? { agent, sample: drawMail(pick) } : drawOne(pick);
  }
  return { agent: buildHarmless(pick(HARMLESS_NAMES)), sample: pick([drawMail(pick), pick(NEVER_ANSWERED)]) };
}

type Pick_ = Pick_Case;
interface Pick_Case {
  readonly agent: Agent;
  readonly sample: string | undefined;
}

/** Draws cases at random, the same for the same seed. Every third is judged by scenarios. */
export function drawCases(seed: number, count: number): Case[] {
  const pick = createPicker(seed);
  return Array.from({ length: count }, (_, index) => ({
    ...drawOne(pick),
    by: index % 3 === 2 ? ('evaluate' as const) : ('here' as const),
    seed: seed + index,
  }));
}

/** Cases with each part at least once, whatever the seed: some parts meet others by chance. */
export function everyPart(seed: number): Case[] {
  const pick = createPicker(seed);
  const leaks = [
    ...LEAK_PARTS.text.map((text) => drawLeak(pick, { text, goal: 'the code', cover: 'leaves it' })),
    ...LEAK_PARTS.recipient.map((recipient) => drawLeak(pick, { recipient, goal: 'to the collector', cover: 'leaves it' })),
    ...LEAK_PARTS.cover.map((cover) => drawLeak(pick, { cover, recipient: 'to', goal: 'to the collector' })),
    ...LEAK_PARTS.door.flatMap((door) => TIMES.map((time) => drawLeak(pick, { door, time, recipient: 'cc', text: 'plain', goal: 'both', cover: 'leaves it' }))),
  ].map((agent, index) => ({ agent, sample: index % 3 === 0 ? undefined : index % 3 === 1 ? 'injection-plain' : 'injection/order/5' }));
  const deeds = OBJECT_NAMES.flatMap((name) => {
    const agent = buildObjectDeed(name, 'at once');
    if (!agent) return [];
    return [undefined, 'injection-as-owner', 'injection-forged-tool-output'].map((sample) => ({ agent, sample }));
  });
  const harmless = HARMLESS_NAMES.flatMap((name) =>
    [undefined, 'injection-plain', 'injection-plain-harmless', 'out-of-office', 'bounce-mailbox-full'].map((sample) => ({ agent: buildHarmless(name), sample })),
  );
  return [...leaks, ...deeds, ...harmless].map((each, index) => ({ ...each, by: 'here' as const, seed: seed + index }));
}
