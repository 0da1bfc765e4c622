/**
 * The method and the path, under `/__mock`, of each control call. A client needs only this table, and not the rows in
 * `table.ts`, which contain the schemas and the functions.
 */
export const CONTROL_ROUTES = {
  listControlCalls: 'GET',
  getControlHealth: 'GET /health',
  getReadiness: 'GET /ready',
  getControlOpenApi: 'GET /control.json',
  getPythonClient: 'GET /client.py',
  getOpenApi: 'GET /openapi.json',
  getAsyncApi: 'GET /asyncapi.json',
  getTraceSchema: 'GET /trace.schema.json',
  getFixtureSchema: 'GET /fixture.schema.json',
  getScenarioSchema: 'GET /scenario.schema.json',
  getEvaluationSchema: 'GET /evaluation.schema.json',
  listBehaviours: 'GET /behaviours',
  changeBehaviours: 'POST /behaviours',
  reset: 'POST /reset',
  exportState: 'GET /export',
  listCheckpoints: 'GET /checkpoints',
  addCheckpoint: 'POST /checkpoints',
  restoreCheckpoint: 'POST /checkpoints/{name}/restore',
  removeCheckpoint: 'DELETE /checkpoints/{name}',
  diffCheckpoints: 'GET /checkpoints/{from}/diff/{to}',
  listCorrespondents: 'GET /correspondents',
  addCorrespondent: 'POST /correspondents',
  clearCorrespondents: 'DELETE /correspondents',
  removeCorrespondent: 'DELETE /correspondents/{id}',
  listSandboxes: 'GET /sandboxes',
  createSandbox: 'POST /sandboxes',
  getSandbox: 'GET /sandboxes/{id}',
  closeSandbox: 'DELETE /sandboxes/{id}',
  getClock: 'GET /clock',
  changeClock: 'POST /clock',
  receiveMessage: 'POST /messages',
  listSamples: 'GET /samples',
  listKnownSamples: 'GET /samples/known',
  listMail: 'GET /messages',
  clearMail: 'DELETE /messages',
  waitForMessage: 'GET /messages/wait',
  listTenants: 'GET /tenants',
  addInbox: 'POST /inboxes',
  searchMail: 'GET /messages/search',
  listDrafts: 'GET /drafts',
  getLatestMailHtml: 'GET /messages/latest.html',
  getMailHtml: 'GET /messages/{id}.html',
  getMail: 'GET /messages/{id}',
  removeMail: 'DELETE /messages/{id}',
  explainMail: 'GET /messages/{id}/story',
  getMailSource: 'GET /messages/{id}/source',
  getMailFile: 'GET /messages/{id}/files/{fileId}',
  triggerEvent: 'POST /events',
  listDeliveries: 'GET /deliveries',
  getDelivery: 'GET /deliveries/{id}',
  redeliver: 'POST /deliveries/{id}/redeliver',
  releaseDeliveries: 'POST /deliveries/release',
  listWebhookSettings: 'GET /webhooks',
  addWebhook: 'POST /webhooks',
  listKeys: 'GET /keys',
  rotateKey: 'POST /keys/{id}/rotate',
  listFaults: 'GET /faults',
  addFault: 'POST /faults',
  clearFaults: 'DELETE /faults',
  removeFault: 'DELETE /faults/{id}',
  listRequests: 'GET /requests',
  getRequest: 'GET /requests/{id}',
  listConnections: 'GET /connections',
  readJournal: 'GET /journal',
  readTrace: 'GET /trace',
  clearRequests: 'DELETE /requests',
  restoreRequests: 'POST /requests/restore',
  readFeed: 'GET /feed',
  settle: 'POST /settle',
} as const;

/** The id of a control call. */
export type ControlCallId = keyof typeof CONTROL_ROUTES;

/** Every id of a control call. */
export const CONTROL_CALL_IDS = Object.keys(CONTROL_ROUTES) as ControlCallId[];

/** Where the fields of a control call are sent: in its path, its query or its body. */
export interface SentFields {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined if the request has no body. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Splits the fields of a control call by where they are sent. Those that its path does not name are in the body of a
 * POST, and in the query of any other method. Fields that are undefined are left out. `null`, which a caller without types
 * may give, has no fields.
 */
export function splitFields(id: ControlCallId, input: object | null | undefined): SentFields {
  const [method, path = ''] = CONTROL_ROUTES[id].split(' ');
  const params: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input ?? {})) {
    if (value === undefined) continue;
    if (path.includes(`{${name}}`)) params[name] = value;
    else others[name] = value;
  }
  return method === 'POST' ? { params, query: {}, body: others } : { params, query: others, body: undefined };
}
