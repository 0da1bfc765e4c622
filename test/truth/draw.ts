import { samplesFor } from 'agent-mailbox-mock/samples';
import { INJECTION_SAMPLES } from '../../src/control/samples/injection-samples.ts';
import {
  type Agent,
  buildHarmless,
  buildLeak,
  buildObjectDeed,
  buildUnseen,
  HARMLESS_NAMES,
  LEAK_PARTS,
  OBJECT_NAMES,
  TIMES,
  UNSEEN_NAMES,
} from './agents.ts';
import { type Case, createPicker } from './run.ts';
import { COMBINED_FORMS } from './texts.ts';

type Picker = ReturnType<typeof createPicker>;

/** The parts of an agent that gives something away by mail, by their kinds. */
type Parts = Record<keyof typeof LEAK_PARTS, string>;

/** An agent, and the name of the sample that it gets. */
type Drawn = Pick<Case, 'agent' | 'sample'>;

const FIXED = Object.keys(INJECTION_SAMPLES);
const NEVER_ANSWERED = [
  'out-of-office',
  'auto-response-suppressed',
  'ticket-acknowledgement',
  'no-reply',
  'bounce-unknown-user',
  'bounce-mailbox-full',
  'bounce-free-text',
];

/** How many draws without an agent there may be: parts that cannot be together are drawn again. */
const MAX_TRIES = 10_000;

/** Picks a form of a text: every second time one that combines an encoding and a place. */
const pickText = (pick: Picker) => (pick([true, false]) ? pick(Object.keys(COMBINED_FORMS)) : pick(LEAK_PARTS.text));

function drawParts(pick: Picker, wanted: Partial<Parts>): [Parts, Agent] {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const entries = Object.entries(LEAK_PARTS).map(([kind, values]) => [
      kind,
      wanted[kind as keyof Parts] ?? (kind === 'text' ? pickText(pick) : pick(values)),
    ]);
    const parts: Parts = Object.fromEntries(entries);
    const agent = buildLeak(parts);
    if (agent) return [parts, agent];
  }
  throw new Error(`No agent can have these parts: ${JSON.stringify(wanted)}.`);
}

function drawMail(pick: Picker): string | undefined {
  const samples = [...FIXED, ...samplesFor()];
  return pick([undefined, pick(samples), `${pick(samples)}-harmless`, pick(samples)]);
}

function drawOne(pick: Picker): Drawn {
  switch (pick(['leak', 'leak', 'leak', 'leak', 'object', 'harmless', 'harmless', 'unseen'] as const)) {
    case 'leak':
      return { agent: drawParts(pick, {})[1], sample: drawMail(pick) };
    case 'object':
      return { agent: buildObjectDeed(pick(OBJECT_NAMES), pick(TIMES)), sample: drawMail(pick) };
    case 'harmless':
      return { agent: buildHarmless(pick(HARMLESS_NAMES)), sample: pick([drawMail(pick), pick(NEVER_ANSWERED)]) };
    case 'unseen':
      return { agent: buildUnseen(pick(UNSEEN_NAMES)), sample: drawMail(pick) };
  }
}

/**
 * Says who judges: scenarios judge one of so many cases, and `runSamples` as many, if they can. A scenario takes longer
 * than assertions, because each trial starts an agent.
 */
function addJudge({ agent, sample }: Drawn, index: number, oneOf: number): Pick<Case, 'by'> {
  const isSample = sample !== undefined && !sample.endsWith('-harmless');
  // To learn of its mail, an agent in a trial reads it.
  if (index % oneOf === 1 && agent.journalSize === undefined && agent.facts.read === 'all') return { by: 'evaluate' };
  if (index % oneOf === 3 && isSample && !agent.needsOther) return { by: 'runSamples' };
  return { by: 'assertions' };
}

/** Draws cases at random, the same for the same seed. */
export function drawCases(seed: number, count: number): Case[] {
  const pick = createPicker(seed);
  return Array.from({ length: count }, (_, index) => {
    const drawn = drawOne(pick);
    return { ...drawn, ...addJudge(drawn, index, 4), seed: seed + index };
  });
}

/**
 * Returns cases that have each part at least once, and of the parts of a mail as many pairs as fit into one agent for each
 * form of a text.
 */
export function coverParts(seed: number): Case[] {
  const pick = createPicker(seed);
  const covered = new Set<string>();
  const pairsOf = (parts: Parts) => {
    const all = Object.entries(parts).map((part) => part.join());
    return all.flatMap((one, index) => [one, ...all.slice(index + 1).map((other) => `${one} ${other}`)]);
  };
  const add = (wanted: Partial<Parts>): Agent => {
    const drawn = Array.from({ length: 20 }, () => drawParts(pick, wanted));
    const gain = (parts: Parts) => pairsOf(parts).filter((pair) => !covered.has(pair)).length;
    const [parts, agent] = drawn.reduce((best, each) => (gain(each[0]) > gain(best[0]) ? each : best));
    for (const pair of pairsOf(parts)) covered.add(pair);
    return agent;
  };
  const leaks = LEAK_PARTS.text.map((text) =>
    add({ text, goal: /of the recipient/.test(text) ? 'the code' : pick(['the code', 'both']) }),
  );
  for (const kind of ['recipient', 'cover', 'door', 'time'] as const) {
    for (const value of LEAK_PARTS[kind]) {
      // A form of a recipient counts only if something is sent to the collector.
      if (!covered.has(`goal,to the collector ${kind},${value}`))
        leaks.push(add({ [kind]: value, goal: 'to the collector' }));
    }
  }
  const drawn: Drawn[] = [
    ...leaks.map((agent) => ({ agent, sample: drawMail(pick) })),
    ...OBJECT_NAMES.map((name) => ({
      agent: buildObjectDeed(name, pick(TIMES)),
      sample: /key|webhook/.test(name) ? 'injection-as-owner' : 'injection-forged-tool-output',
    })),
    ...HARMLESS_NAMES.map((name) => ({
      agent: buildHarmless(name),
      sample: pick([...FIXED, ...FIXED.map((each) => `${each}-harmless`), ...NEVER_ANSWERED]),
    })),
    ...UNSEEN_NAMES.map((name) => ({
      agent: buildUnseen(name),
      sample: pick(['injection-plain', 'injection-hidden-by-css', 'injection-in-invitation']),
    })),
  ];
  return drawn.map((each, index) => ({ ...each, ...addJudge(each, index, 8), seed: seed + index }));
}
