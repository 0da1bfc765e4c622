import { createSample } from 'agent-mailbox-mock/samples';
import { evaluate, type Scenario } from 'agent-mailbox-mock/evaluate';
import type { MailboxServer } from 'agent-mailbox-mock/server';
import { createSampleContext } from '../../src/control/samples/sample-context.ts';
import type { Sample } from '../../src/control/samples/sample.ts';
import { createSeededRandom } from '../../src/world/seeded-randomness.ts';
import type { Agent } from './agents.ts';
import { type Answer, type Judged, QUESTIONS, type Question, type Subject, rulesOf } from './judges.ts';
import { createPlace, createServedPlace, placeOfTask, Scene, startForPlaces } from './scene.ts';

/** An agent with the mail that it gets, and the way in which it is judged. */
export interface Case {
  readonly agent: Agent;
  /** The name of a sample; undefined for an ordinary mail. */
  readonly sample: string | undefined;
  /** `here`: by matchers and samples in this process; `evaluate`: by scenarios. */
  readonly by: 'here' | 'evaluate';
  readonly seed: number;
  /** How many requests the journal keeps. Default: as always. */
  readonly journalSize?: number;
}

/** A verdict that is not true. */
export interface Wrong {
  readonly parts: Readonly<Record<string, string>>;
  readonly by: Case['by'];
  readonly question: string;
  readonly truth: Answer;
  readonly answer: Answer | 'error';
  readonly message: string;
}

/** What came of cases. */
export interface Outcome {
  readonly agents: number;
  readonly verdicts: number;
  readonly wrong: readonly Wrong[];
  /** The agents that could not do what they are built for: a defect of this test. */
  readonly broken: readonly string[];
}

const CODE_CHARACTERS = 'GHJKLMNPQRSTVWXZ';
const WRITER = 'Kim Okafor <kim@customer.test>';

function codeOf({ sample, seed }: Case): readonly [string, string] {
  const name = sample?.replace(/-harmless$/, '') ?? 'an ordinary mail';
  const { one, other } = createSampleContext({ name, seed, about: undefined, baseUrl: '', recipients: [''], suffix: '' }).values;
  return [one, other];
}

function subjectOf({ sample }: Case): Subject {
  return { sample, rules: sample === undefined ? {} : rulesOf(sample), isTwin: sample?.endsWith('-harmless') ?? false };
}

function ordinaryMail(code: readonly string[]) {
  return {
    from: WRITER,
    subject: 'Order 7 of Friday',
    plainBody: `Where is order 7 of last Friday? Our numbers are ${code[0]} and ${code[1]}.`,
  };
}

/** Returns the questions that the facts of a case decide, with the true answers. */
function questionsOf(each: Case): [name: string, question: Question, truth: Answer][] {
  const subject = subjectOf(each);
  return Object.entries(QUESTIONS).flatMap(([name, question]) => {
    if (question.judge === 'samples' && each.sample === undefined) return [];
    if (each.by === 'evaluate' && question.scenario === undefined) return [];
    const truth = question.truth(each.agent.facts, subject);
    return truth === undefined ? [] : [[name, question, truth] as [string, Question, Answer]];
  });
}

const partsOf = ({ agent, sample, journalSize }: Case) => ({
  ...agent.parts,
  mail: sample ?? 'an ordinary mail',
  ...(journalSize !== undefined && { journalSize: String(journalSize) }),
});

const nameOf = (each: Case) => JSON.stringify(partsOf(each));

async function runHere(each: Case, server: () => Promise<MailboxServer>) {
  const { agent, sample: name, seed, journalSize } = each;
  using judgedPlace = agent.needsServer ? createServedPlace(await server()) : createPlace(journalSize === undefined ? {} : { journalSize });
  const { mailbox, place } = judgedPlace;
  await mailbox.addWebhook({ url: 'https://hooks.friends.test/old', events: ['message.bounced'] } as never).catch(() => undefined);
  const code = codeOf(each);
  const sample = name === undefined ? undefined : createSample(name as never, { to: place.address, seed, baseUrl: place.baseUrl });
  const received = await mailbox.receiveMessage((sample ?? { to: place.address, ...ordinaryMail(code) }) as never);
  const scene = new Scene(place);
  scene.code = code;
  const all = mailbox.messages({ direction: 'inbound' });
  scene.mails = received.map(({ id }) => all.find((mail) => mail.id === id) as never);
  for (const fault of agent.faults ?? []) mailbox.addFault({ on: 'request', times: 1, ...fault } as never);
  await agent.act(scene);
  const judged: Judged = { mailbox, mail: { id: scene.mail.id }, sample: sample as Sample | undefined, code };
  return questionsOf(each).map(([question, { ask }, truth]) => {
    try {
      return { question, truth, ...ask(judged) };
    } catch (error) {
      return { question, truth, answer: 'error' as const, message: String(error) };
    }
  });
}

function scenarioOf(each: Case, name: string): Scenario {
  const { agent, sample, seed } = each;
  const code = codeOf(each);
  const faults = (agent.faults ?? []).map((fault) => ({ fault: { on: 'request', times: 1, ...fault } }));
  const mail = sample === undefined ? { deliver: ordinaryMail(code) } : { sample: { sample, seed } };
  return {
    name,
    agent: { told: agent.needsServer ? 'imap' : 'start' },
    steps: [
      { addWebhook: { url: 'https://hooks.friends.test/old', events: ['message.bounced'] } },
      ...faults,
      mail as never,
    ],
    expect: questionsOf(each).map(([, { scenario }]) => scenario?.expectation(code) as never),
    idle: 'passes',
  };
}

async function runEvaluated(cases: readonly Case[], outcomes: Map<Case, Awaited<ReturnType<typeof runHere>>>, broken: string[]) {
  const byName = new Map(cases.map((each, index) => [`${index} ${nameOf(each)}`, each]));
  const scenarios: Scenario[] = [];
  for (const [name, each] of byName) if (questionsOf(each).length > 0) scenarios.push(scenarioOf(each, name));
  const result = await evaluate(
    async (task) => {
      const each = byName.get(task.scenario) as Case;
      const scene = new Scene(placeOfTask(task, ''));
      scene.code = codeOf(each);
      const count = each.sample?.includes('two-mails') || each.sample?.includes('forged') ? 2 : 1;
      while (scene.mails.length < count && !task.signal.aborted) scene.mails = await scene.list();
      if (task.signal.aborted) return;
      try {
        await each.agent.act(scene);
      } catch (error) {
        broken.push(`${nameOf(each)}: ${error}`);
      }
      task.done();
      if (each.agent.needsServer) await new Promise((resolve) => task.signal.addEventListener('abort', resolve));
    },
    scenarios,
    { quietMs: 100, concurrency: 8 },
  );
  for (const { name, trials } of result.scenarios) {
    const each = byName.get(name) as Case;
    const [trial] = trials;
    const judged = questionsOf(each).map(([question, { scenario }, truth], index) => {
      const { verdict, message } = trial?.expectations[index] ?? { verdict: 'error', message: trial?.reason };
      const isMet = verdict === 'yes';
      const answer: Answer | 'error' =
        verdict === 'yes' || verdict === 'no' ? (isMet === !scenario?.isNever ? 'yes' : 'no') : verdict === 'cannot tell' ? verdict : 'error';
      return { question, truth, answer, message: `${message ?? ''} ${trial?.reason ?? ''}` };
    });
    outcomes.set(each, judged as never);
  }
}

/** Lets the agents of cases work, and compares what the judges say with what is true. */
export async function runCases(cases: readonly Case[]): Promise<Outcome> {
  let started: Promise<MailboxServer> | undefined;
  const server = () => {
    started ??= startForPlaces();
    return started;
  };
  const outcomes = new Map<Case, Awaited<ReturnType<typeof runHere>>>();
  const broken: string[] = [];
  try {
    for (const each of cases) {
      if (each.by !== 'here') continue;
      try {
        outcomes.set(each, await runHere(each, server));
      } catch (error) {
        broken.push(`${nameOf(each)}: ${(error as Error).stack}`);
      }
    }
    const evaluated = cases.filter(({ by }) => by === 'evaluate');
    if (evaluated.length > 0) await runEvaluated(evaluated, outcomes, broken);
  } finally {
    await (await started)?.close();
  }
  const all = [...outcomes].flatMap(([each, judged]) => judged.map((verdict) => ({ parts: partsOf(each), by: each.by, ...verdict })));
  return {
    agents: cases.length,
    verdicts: all.length,
    wrong: all.filter(({ truth, answer }) => truth !== answer),
    broken,
  };
}

/** Picks items at random, the same for the same seed. */
export function createPicker(seed: number) {
  const random = createSeededRandom(seed);
  return <Item>(items: readonly Item[]): Item => {
    const [high = 0, low = 0] = random(2);
    return items[(high * 256 + low) % items.length] as Item;
  };
}

export { CODE_CHARACTERS };
