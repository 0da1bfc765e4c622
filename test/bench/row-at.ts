// A child process: `row-at.ts first` or `row-at.ts last`. It makes that row of the table `listWebhooks`, and tells its
// parent, whenever it is asked, how many microseconds a call of it takes.
import { OPERATION_IDS, OPERATION_ROWS, type OperationId } from '../../src/contract/operations.ts';
import { timePerCall } from './measure.ts';

process.once('disconnect', () => process.exit());

const OPERATION: OperationId = 'listWebhooks';

const isFirst = process.argv[2] === 'first';
const row = OPERATION_ROWS.splice(OPERATION_IDS.indexOf(OPERATION), 1);
OPERATION_ROWS.splice(isFirst ? 0 : OPERATION_ROWS.length, 0, ...row);

// The router is made of the rows when it is loaded, so only now.
const { createMailbox } = await import('agent-mailbox-mock');

const mailbox = createMailbox();
const request = () =>
  new Request(`${mailbox.baseUrl}/v1/webhooks`, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
const sample = timePerCall(50, async () => (await mailbox.fetch(request())).arrayBuffer());

process.on('message', async () => process.send?.(await sample()));
process.send?.('ready');
