import type { Run } from './context.ts';

export const getHealth: Run<'getHealth'> = ({ choose }) => ({ body: HEALTH_BODIES[choose('health.body')] });

const HEALTH_BODIES = { status: { status: 'ok' as const }, empty: {} };
