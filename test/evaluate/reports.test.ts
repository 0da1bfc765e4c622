import { Window } from 'happy-dom';
import { expect, test } from 'vitest';
import { createEvaluation, type Evaluation, toTrialReport } from '../../src/evaluate/evaluation.ts';
import { type ParsedScenario, parseScenarios } from '../../src/evaluate/parse-scenarios.ts';
import { writeReport } from '../../src/evaluate/report-html.ts';
import { writeJunit } from '../../src/evaluate/report-junit.ts';
import { writeEvaluation } from '../../src/evaluate/report-text.ts';
import type { JudgedExpectation, TrialOutcome } from '../../src/evaluate/run-trial.ts';
import { Choice } from '../support/choice.ts';
import { PROVENANCE } from '../support/provenance.ts';

/** A trial whose outcome is known, because it is made so. */
interface MadeTrial {
  readonly outcome: 'passed' | 'failed' | 'silent' | 'not judged';
  /** Why it ended; null if the expectations alone decided. */
  readonly reason: string | null;
  /** The expectation that decided, as it must be named; null if none did. */
  readonly decisive: string | null;
  readonly trial: TrialOutcome;
}

/** Makes a trial in which something else that nobody could tell comes first, so that it could be taken for the reason. */
function makeTrial(choice: Choice, name: string): MadeTrial {
  const outcome = choice.of(['passed', 'passed', 'passed', 'failed', 'silent', 'not judged'] as const);
  const kind = choice.of(['reason', 'expectation', 'both'] as const);
  const isBreach = choice.number(3) === 0;
  const expectation = (verdict: JudgedExpectation['verdict'], text: string, isForbidding = false) => ({
    text: `${text} <&> "${name}"`,
    verdict,
    message: verdict === 'yes' ? null : `Received nothing of ${text}.\nWhat happened: a mail came.`,
    isForbidding,
    isOpen: verdict === 'cannot tell' && outcome === 'silent',
  });
  const met = [expectation('yes', 'answered first'), expectation('yes', 'never created', true)];
  const untold = expectation('cannot tell', 'check by a command');
  const missing = expectation('no', 'sent to dana');
  const breach = expectation('no', 'never sent to the collector', true);
  const hasReason = outcome !== 'passed' && (kind !== 'expectation' || outcome === 'silent');
  const reason = hasReason ? `The trial ended early <&> ${name}.` : null;
  const expectations =
    outcome === 'passed'
      ? met
      : outcome === 'failed'
        ? kind === 'reason'
          ? met
          : [untold, ...met, ...(choice.number(2) === 0 ? [missing] : []), ...(isBreach ? [breach] : [missing])]
        : kind === 'reason' && outcome === 'not judged'
          ? met
          : [...met, untold];
  const decisive =
    expectations.find(({ isForbidding, verdict }) => isForbidding && verdict === 'no') ??
    expectations.find(({ verdict }) => verdict === 'no') ??
    expectations.find(({ verdict }) => verdict === 'cannot tell');
  return {
    outcome,
    reason,
    decisive: decisive ? `${decisive.verdict === 'no' ? 'Not so' : 'Cannot tell'}: ${decisive.text}` : null,
    trial: {
      verdict: outcome === 'passed' || outcome === 'failed' ? outcome : 'cannot tell',
      over: outcome === 'silent' ? 'silence' : 'done',
      silentMs: outcome === 'silent' ? 2_000 + choice.number(900) : null,
      isSilent: outcome === 'silent',
      hasActed: choice.number(5) > 0,
      reason,
      lacksSentMail: false,
      expectations,
      requests: choice.number(20),
      mails: choice.number(3),
      realTimeMs: choice.number(9_000),
      story: ['A mail arrived.'],
      output: choice.of(['', 'I work.\n', 'A <b>bold</b> line & more\n']),
      refusedCalls: choice.of([[], [{ call: 'POST /__mock/reset', count: 2 }]]),
      trace: () => '',
    },
  };
}

/** A report whose truth is known. */
interface MadeReport {
  readonly evaluation: Evaluation;
  readonly truth: readonly { readonly scenario: ParsedScenario; readonly trials: readonly MadeTrial[] }[];
  readonly repeat: number;
  readonly require: number | undefined;
  readonly k: number | undefined;
}

function makeReport(seed: number): MadeReport {
  const choice = new Choice(seed);
  // Of 210 trials, a share can be neither 0 nor 1 and still be rounded to one of them.
  const repeat = seed % 30 === 0 ? 210 : choice.of([1, 2, 3, 5, 10]);
  const k = choice.of([undefined, 1, Math.ceil(repeat / 2), repeat]);
  const require = choice.of([undefined, 0, 0.5, 0.8, 0.805, 1]);
  const scenarios = parseScenarios([
    {
      value: Array.from({ length: 1 + choice.number(4) }, (_, index) => ({
        name: `Number ${index} of ${seed} <&> "quoted"`,
        steps: [{ deliver: { from: 'dana@customer.test', subject: 'x', plainBody: 'y' } }],
        expect: [{ answered: 'first' }],
        ...(choice.number(3) === 0 && { require: choice.of([0, 0.3, 0.9, 1]) }),
        ...(choice.number(2) === 0 && { twin: { expect: [{ answered: 'first' }] } }),
      })),
      file: 'a <&> b.yaml',
    },
  ]);
  const all = scenarios.flatMap((scenario) => (scenario.twin ? [scenario, scenario.twin] : [scenario]));
  // An interrupted run has fewer trials than were to be run.
  const isCut = choice.number(8) === 0;
  const truth = all.map((scenario) => {
    const alwaysPasses = choice.number(3) === 0;
    const count = isCut ? choice.number(repeat + 1) : repeat;
    const trials = Array.from({ length: count }, (_, index) => {
      for (;;) {
        const made = makeTrial(choice, `${seed}.${index}`);
        if (!alwaysPasses || made.outcome === 'passed') return made;
      }
    });
    return { scenario, trials };
  });
  const runs = truth.map(({ scenario, trials }) => ({
    scenario,
    trials: trials.map(({ trial }, index) => toTrialReport(index + 1, 7, trial)),
  }));
  const facts = {
    provenance: PROVENANCE,
    repeat,
    require,
    k,
    seed,
    startedAt: '2026-03-01T09:00:00.000Z',
    realTimeMs: 5,
    notes: ['A note.'],
  };
  return { evaluation: createEvaluation(runs, facts), truth, repeat, require, k };
}

const isPassed = ({ outcome }: MadeTrial) => outcome === 'passed';

/** C(from, count), exactly. */
function choose(from: number, count: number): bigint {
  let ways = 1n;
  for (let index = 0; index < count; index += 1) ways = (ways * BigInt(from - index)) / BigInt(index + 1);
  return ways;
}

/** Whether pass^k of all trials that were to be run is at least a share, without any rounding. */
function reaches(passed: number, repeat: number, k: number, required: number): boolean {
  const perMille = BigInt(Math.round(required * 1_000));
  return (passed < k ? 0n : choose(passed, k)) * 1_000n >= choose(repeat, k) * perMille;
}

/** A share in percent that is 0 or 100 only if it is that. */
function percentOf(share: number): string {
  const rounded = Math.round(share * 100);
  return rounded === 0 && share > 0 ? '< 1' : rounded === 100 && share < 1 ? '> 99' : String(rounded);
}

/** A share with its Wilson interval: the roots of the equation of the score test. */
function shareWithInterval(count: number, of: number): string {
  if (of === 0) return '-';
  const [z, p] = [1.959963984540054 ** 2, count / of];
  const [a, b, c] = [1 + z / of, -(2 * p + z / of), p * p];
  const root = Math.sqrt(Math.max(0, b * b - 4 * a * c));
  const limits = [count === 0 ? 0 : (-b - root) / (2 * a), count === of ? 1 : (-b + root) / (2 * a)];
  return `${percentOf(p)} % (${limits.map(percentOf).join('–')} %)`;
}

/** What every report must say of a scenario, by its name, as people read it. */
function expectedCells({ truth, repeat, require, k }: MadeReport) {
  const shown = k ?? Math.max(1, ...truth.map(({ trials }) => trials.length));
  return truth.map(({ scenario, trials }) => {
    const passed = trials.filter(isPassed).length;
    const required = scenario.require ?? require ?? 1;
    const isMet = reaches(passed, repeat, k ?? 1, required);
    const twin = truth.find((each) => each.scenario.name === scenario.twin?.name)?.trials ?? [];
    const attacked = scenario.twin
      ? trials.filter(({ trial, outcome }) => trial.hasActed && outcome !== 'not judged')
      : [];
    const attacks = attacked.filter(({ trial }) =>
      trial.expectations.some((e) => e.isForbidding && e.verdict === 'no'),
    );
    const passHatK = trials.length < shown ? '-' : `${percentOf(ratio(passed, trials.length, shown))} %`;
    return {
      name: scenario.name,
      isMet,
      cells: [
        `${passed}/${trials.length}`,
        String(trials.filter(({ outcome }) => outcome === 'silent').length),
        shareWithInterval(passed, trials.length),
        ...(shown > 1 ? [passHatK] : []),
        `${Number((required * 100).toFixed(6))} %${isMet ? '' : ', not met'}`,
        shareWithInterval(twin.filter(isPassed).length, twin.length),
        shareWithInterval(attacks.length, attacked.length),
      ],
    };
  });
}

/** C(passed, k) / C(trials, k), which is never 0 by rounding. */
function ratio(passed: number, trials: number, k: number): number {
  const scale = 10n ** 15n;
  return passed < k ? 0 : Math.max(1e-15, Number((choose(passed, k) * scale) / choose(trials, k)) / 1e15);
}

/** What a report says: the cells of each scenario, each trial that did not pass, and whether the gate is met. */
interface Said {
  readonly cells: readonly (readonly string[])[];
  /** For each trial, in the order of the reports: its outcome, and whether it is tolerated. */
  readonly outcomes: readonly string[];
  /** For each trial that did not pass: everything that is said of it. */
  readonly texts: readonly string[];
  readonly isGateMet: boolean;
}

function readTerminal({ evaluation, truth }: MadeReport): Said {
  const text = writeEvaluation(evaluation);
  const [table = '', ...rest] = text.split('\n\n');
  const [, ...rows] = table.split('\n').map((line) => line.split(/ {2,}/));
  const blocks = rest.slice(1).map((block) => block.split('\n'));
  const outcomes = truth.flatMap(({ scenario, trials }) =>
    trials.map((_, index) => {
      const start = `${scenario.name}, trial ${index + 1}, `;
      const title = blocks.map(([first = '']) => first).find((first) => first.startsWith(start));
      return title?.slice(start.length).replace(/ \(a <&> b\.yaml\)$/, '') ?? 'passed';
    }),
  );
  return {
    cells: rows.map(([, ...cells]) => cells),
    outcomes,
    texts: blocks.map((lines) => lines.join(' ')),
    isGateMet: /^Gate: met\./m.test(text),
  };
}

const WORDS = {
  'failure failed': 'failed',
  'failure silence': 'cannot tell',
  'error cannot tell': 'could not be judged',
  'skipped failed': 'failed, tolerated',
  'skipped silence': 'cannot tell, tolerated',
  'skipped cannot tell': 'could not be judged, tolerated',
} as const;

function readJunit({ evaluation }: MadeReport): Said {
  const xml = writeJunit(evaluation);
  const document = new new Window().DOMParser().parseFromString(xml, 'text/xml');
  const all = (selector: string) => [...document.querySelectorAll(selector)];
  // One case stands for all trials that were not run.
  const isTrial = (element: { getAttribute(name: string): string | null }) =>
    !element.getAttribute('name')?.endsWith('trials that were not run');
  const unmet = all('failure, error, skipped').filter((each) => each.getAttribute('type') !== 'not run');
  const root = document.querySelector('testsuites');
  const count = (name: string) => Number(root?.getAttribute(name));
  // The numbers of the attributes are those of the elements.
  expect([count('tests'), count('failures'), count('errors'), count('skipped')]).toEqual(
    ['testcase', 'failure', 'error', 'skipped'].map((name) => all(name).length),
  );
  return {
    cells: all('testsuite').map((suite) =>
      [...suite.querySelectorAll('property')].map((property) => property.getAttribute('value') ?? '').slice(0, -1),
    ),
    outcomes: all('testcase')
      .filter(isTrial)
      .map((each) => {
        const found = each.querySelector('failure, error, skipped');
        return found ? WORDS[`${found.localName} ${found.getAttribute('type')}` as keyof typeof WORDS] : 'passed';
      }),
    // The message alone must say it, because CI systems show it first.
    texts: unmet.map((each) => each.getAttribute('message') ?? ''),
    isGateMet: count('failures') + count('errors') === 0,
  };
}

function readHtml({ evaluation }: MadeReport): Said {
  const { document } = new Window();
  document.body.innerHTML = writeReport(evaluation, new Set());
  const all = (selector: string) => [...document.querySelectorAll(selector)];
  // The worst scenarios come first, so they are found by their names.
  const rows = evaluation.scenarios.map(({ name }) => {
    const row = all('tbody tr').find((each) => each.querySelector('.title')?.textContent === name);
    if (!row) throw new Error(`There is no row of ${name}.`);
    return row;
  });
  const columns = ['passed', 'silent', 'passAt1', 'passHatK', 'required', 'utility', 'attacks', 'time', 'requests'];
  const shown = columns.filter((column) => column !== 'passHatK' || evaluation.k > 1);
  const dots = rows.map((row) => [...row.querySelectorAll('.dot')].map((dot) => dot.getAttribute('title') ?? ''));
  return {
    // A column that says nothing of any scenario is left out.
    cells: rows.map((row) =>
      shown.map((column) => {
        const missing = column === 'silent' ? '0' : '-';
        return document.querySelector(`thead .column-${column}`)
          ? (row.querySelector(`.column-${column}`)?.textContent ?? '')
          : missing;
      }),
    ),
    outcomes: dots.flat().map((title) => title.replace(/^Trial \d+: /, '').replace(/\. .*$/s, '')),
    texts: dots.flat().filter((title) => !/^Trial \d+: passed$/.test(title)),
    isGateMet: document.querySelector('dd')?.textContent === 'met',
  };
}

const READERS = { terminal: readTerminal, JUnit: readJunit, HTML: readHtml } as const;

test('the terminal, JSON, JUnit and HTML say the same, and what they say is true', () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 90; seed += 1) {
    const made = makeReport(seed);
    const scenarios = expectedCells(made);
    const isGateMet = scenarios.every(({ isMet }) => isMet);
    const trials = made.truth.flatMap((each, index) =>
      each.trials.map((trial) => ({ ...trial, isTolerated: !isPassed(trial) && (scenarios[index]?.isMet ?? false) })),
    );
    const words = { passed: 'passed', failed: 'failed', silent: 'cannot tell', 'not judged': 'could not be judged' };
    const outcomes = trials.map(({ outcome, isTolerated }) => words[outcome] + (isTolerated ? ', tolerated' : ''));
    for (const outcome of outcomes) seen.add(`${isGateMet} ${outcome}`);
    const unmet = trials.filter((trial) => !isPassed(trial));
    for (const [name, read] of Object.entries(READERS)) {
      const said = read(made);
      const about = `${name}, seed ${seed}`;
      // Times and requests are the last two.
      expect(
        said.cells.map((cells) => cells.slice(0, -2)),
        about,
      ).toEqual(scenarios.map(({ cells }) => cells));
      expect(said.outcomes, about).toEqual(outcomes);
      expect(said.isGateMet, about).toBe(isGateMet);
      expect(said.texts, about).toHaveLength(unmet.length);
      for (const [index, { reason, decisive }] of unmet.entries()) {
        expect(said.texts[index], about).toContain(reason ?? '');
        expect(said.texts[index], about).toContain(decisive ?? '');
        // Nothing that only could not be told takes the place of what failed.
        if (name !== 'terminal' && decisive?.startsWith('Not so'))
          expect(said.texts[index]).not.toContain('Cannot tell:');
      }
    }
    const json: Evaluation = JSON.parse(JSON.stringify(made.evaluation));
    expect(json.isGateMet).toBe(isGateMet);
    expect(json.scenarios.map(({ gate }) => gate.isMet)).toEqual(scenarios.map(({ isMet }) => isMet));
    const count = (outcome: MadeTrial['outcome']) => trials.filter((trial) => trial.outcome === outcome).length;
    expect(json).toMatchObject({
      passed: count('passed'),
      failed: count('failed'),
      cannotTell: count('silent') + count('not judged'),
      silent: count('silent'),
    });
    const summaries = json.scenarios.flatMap((scenario) => scenario.trials).flatMap(({ summary }) => summary ?? []);
    expect(summaries).toHaveLength(unmet.length);
    for (const [index, { reason, decisive }] of unmet.entries()) {
      expect(summaries[index]).toContain(reason ?? '');
      expect(summaries[index]).toContain(decisive ?? '');
    }
  }
  // Each outcome came in a report that met its gate, and in one that did not.
  const tolerated = ['failed', 'cannot tell', 'could not be judged'].map((each) => `${each}, tolerated`);
  for (const outcome of ['passed', ...tolerated]) expect(seen).toContain(`true ${outcome}`);
  for (const outcome of ['passed', 'failed', 'cannot tell', 'could not be judged', ...tolerated]) {
    expect(seen).toContain(`false ${outcome}`);
  }
});

test('a trial that cannot be told never meets a gate by being left out', () => {
  const [scenario] = parseScenarios([
    { value: { name: 'a', steps: [{ advance: '1h' }], expect: [{ check: 'true' }], require: 0.8 } },
  ]);
  if (!scenario) throw new Error('There is no scenario.');
  const trialsOf = (outcome: MadeTrial['outcome'], count: number) => {
    const choice = new Choice(3);
    const found: TrialOutcome[] = [];
    while (found.length < count) {
      const made = makeTrial(choice, 'x');
      if (made.outcome === outcome) found.push(made.trial);
    }
    return found;
  };
  const facts = { provenance: PROVENANCE, seed: 1, startedAt: '', realTimeMs: 0, notes: [] };
  const gateOf = (outcomes: readonly TrialOutcome[], repeat: number, k?: number) => {
    const trials = outcomes.map((outcome, index) => toTrialReport(index + 1, 1, outcome));
    return createEvaluation([{ scenario, trials }], { ...facts, repeat, k }).scenarios[0]?.gate;
  };
  for (const outcome of ['failed', 'silent', 'not judged'] as const) {
    expect(gateOf([...trialsOf('passed', 4), ...trialsOf(outcome, 1)], 5)).toMatchObject({
      reached: expect.closeTo(0.8, 12),
      isMet: true,
    });
    expect(gateOf([...trialsOf('passed', 3), ...trialsOf(outcome, 2)], 5)).toMatchObject({
      reached: expect.closeTo(0.6, 12),
      isMet: false,
    });
    // Of pass^2, 4 of 5 are C(4, 2) / C(5, 2).
    expect(gateOf([...trialsOf('passed', 4), ...trialsOf(outcome, 1)], 5, 2)).toMatchObject({
      reached: expect.closeTo(0.6, 12),
      isMet: false,
    });
  }
  // Three trials of five were run before the end of the run.
  expect(gateOf(trialsOf('passed', 3), 5)).toMatchObject({ reached: expect.closeTo(0.6, 12), isMet: false });
  expect(gateOf([], 5)).toMatchObject({ reached: 0, isMet: false });
});

test('the page of a report has the worst first, and each trial that did not pass once, below its reason', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const { evaluation } = makeReport(seed);
    const { document } = new Window();
    document.body.innerHTML = writeReport(evaluation, new Set());
    const all = (selector: string) => [...document.querySelectorAll(selector)];
    const byName = new Map(evaluation.scenarios.map((scenario) => [scenario.name, scenario]));
    const order = all('tbody .title').map((each) => byName.get(each.textContent));
    const ranks = order.map((each) => (each?.gate.isMet ? 2 : 0) + (each?.trials.length ? (each.passAt1 ?? 0) : 1));
    expect(ranks, `seed ${seed}`).toEqual([...ranks].sort((one, other) => one - other));
    expect(order).toHaveLength(evaluation.scenarios.length);
    const { failed, cannotTell, passed } = evaluation;
    expect(document.querySelector('#failed')?.textContent).toBe(failed > 0 ? `Failed trials (${failed})` : undefined);
    expect(document.querySelector('#untold')?.textContent).toBe(
      cannotTell > 0 ? `Trials that cannot be told (${cannotTell})` : undefined,
    );
    expect(all('.group .one .trial')).toHaveLength(failed + cannotTell);
    const widths = all('.share rect').map((each) => Number(each.getAttribute('width')));
    expect(widths).toEqual([passed, failed, cannotTell]);
    for (const group of all('.group')) {
      const trials = group.querySelectorAll('.one');
      expect(group.querySelector('.times')?.textContent).toBe(`${trials.length} ×`);
      const reason = group.querySelector('.reason-text')?.textContent ?? '';
      for (const trial of group.querySelectorAll('.trial')) expect(trial.getAttribute('data-reason')).toBe(reason);
    }
  }
});
