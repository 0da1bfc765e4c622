// A child process: `row-at.ts first` or `row-at.ts last`. It makes that row of the table `listWebhooks`, and tells its
// parent, whenever it is asked, how many microseconds a call of it takes.
import { OPERATION_IDS, type OperationId } from '../../src/contract/operations.ts';
import { timePerCall } from './measure.ts';

process.once('disconnect', () => process.exit());

const OPERATION: OperationId = 'listWebhooks';

const isFirst = process.argv[2] === 'first';
OPERATION_IDS.splice(OPERATION_IDS.indexOf(OPERATION), 1);
OPERATION_IDS.splice(isFirst ? 0 : OPERATION_IDS.length, 0, OPERATION);

// The table is made of the ids when it is loaded, so only now.
const { createMailbox } = await import('agent-mailbox-mock');
const { OPERATION_ROWS } = await import('../../src/service/pipeline/find-row.ts');
if (OPERATION_ROWS.at(isFirst ? 0 : -1)?.id !== OPERATION) throw new Error('The row is not where it should be.');

const mailbox = createMailbox();
const request = () =>
  new Request(`${mailbox.baseUrl}/v1/webhooks`, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
const sample = timePerCall(50, async () => (await mailbox.fetch(request())).arrayBuffer());

process.on('message', async () => process.send?.(await sample()));
process.send?.('ready');
