import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import { type Evaluation, REPORT_VERSION } from './evaluation.ts';

/** The schema of a report in JSON. The type checks that it has every field. */
export const evaluationSchema = lazy((): z.ZodType<Evaluation> => {
  const text = z.string();
  const count = z.int().min(0);
  const share = z.number().min(0).max(1);
  const interval = z.strictObject({ low: share, high: share }).nullable().meta({ description: 'At 95 %.' });
  const hash = z.string().regex(/^[0-9a-f]{64}$/);
  const verdict = z.enum(['yes', 'no', 'cannot tell']);
  const shard = z.strictObject({ index: z.int().min(1), count: z.int().min(1) }).nullable();
  const provenance = z
    .strictObject({
      git: z.strictObject({ commit: text, isClean: z.boolean() }).nullable(),
      node: text,
      platform: text,
      repeat: count,
      require: share,
      timeoutMs: count,
      quietMs: count,
      isShared: z.boolean(),
      fixtures: hash.nullable(),
      suite: z.strictObject({ scenarios: count, hash }),
      shard,
    })
    .describe('How the report came about.');
  const trial = z
    .strictObject({
      number: z.int().min(1),
      seed: count,
      verdict: z.enum(['passed', 'failed', 'cannot tell']),
      over: z.enum(['done', 'breach', 'silence', 'time']).nullable(),
      silentMs: z.number().min(0).nullable(),
      isSilent: z.boolean(),
      hasActed: z.boolean(),
      reason: text.nullable(),
      lacksSentMail: z.boolean(),
      expectations: z.array(
        z.strictObject({
          text,
          verdict,
          message: text.nullable(),
          isForbidding: z.boolean(),
          mails: z.array(text).optional().describe('The ids of the mails that the verdict is about.'),
        }),
      ),
      requests: count,
      mails: count,
      realTimeMs: z.number().min(0),
      story: z.array(text),
      output: text,
      refusedCalls: z.array(z.strictObject({ call: text, count })),
      summary: text.nullable().describe('Why it did not pass; null if it passed.'),
      isAttackSuccess: z.boolean(),
    })
    .meta({ id: 'trial' });
  const gate = z.strictObject({ required: share, k: count, trials: count, reached: share, isMet: z.boolean() });
  const scenario = z
    .strictObject({
      name: text,
      agent: text.nullable().describe('The name of the agent; null for the only agent of a run, if it has none.'),
      description: text.nullable(),
      file: text.nullable(),
      line: z.int().min(1).nullable(),
      hash,
      twinOf: text.nullable(),
      tags: z.array(text),
      parameters: z.record(text, text),
      isAttack: z.boolean(),
      trials: z.array(trial),
      passed: count,
      failed: count,
      cannotTell: count,
      silent: count,
      passAt1: share.nullable(),
      passAt1Interval: interval,
      passHatK: z.array(share),
      gate,
      utility: share.nullable(),
      utilityInterval: interval,
      attackSuccess: share.nullable(),
      attackSuccessInterval: interval,
      medianRealTimeMs: z.number().min(0).nullable(),
      medianRequests: z.number().min(0).nullable(),
    })
    .meta({ id: 'scenario' });
  const totals = {
    isGateMet: z.boolean(),
    passed: count,
    failed: count,
    cannotTell: count,
    silent: count,
    leastSilenceMs: z.number().min(0).nullable(),
    utility: share.nullable(),
    utilityInterval: interval,
    attackSuccess: share.nullable(),
    attackSuccessInterval: interval,
  };
  const agent = z
    .strictObject({
      name: text.nullable(),
      command: z.array(text).nullable(),
      url: text.nullable(),
      stoppedAfter: count.nullable(),
      ...totals,
    })
    .meta({ id: 'agent' });
  return z.strictObject({
    type: z.literal('evaluation'),
    version: z.literal(REPORT_VERSION),
    writtenBy: z.strictObject({ name: text, version: text }),
    provenance,
    startedAt: z.iso.datetime(),
    realTimeMs: z.number().min(0),
    seed: count,
    k: z.int().min(1),
    agents: z.array(agent).min(1),
    scenarios: z.array(scenario).describe('Each scenario with each agent.'),
    ...totals,
    stoppedAfter: count.nullable(),
    missingShards: z.array(z.int().min(1)),
    notes: z.array(text),
  });
});

/** The JSON Schema of a report, which is version 2020-12 of JSON Schema. */
export const evaluationJsonSchema = lazy((): Record<string, unknown> => {
  const schema = z.toJSONSchema(evaluationSchema(), { io: 'output' });
  return { title: 'Report of agent-mailbox-mock evaluate', ...schema };
});
