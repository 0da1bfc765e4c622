import { Trash2, UserPlus } from 'lucide';
import type { ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { Button, countOf, Failure, Form, Icon, TextField, textIn } from '../../parts.tsx';
import { UserText } from '../../text.tsx';
import { formatSpan } from '../../time.tsx';
import { useAction } from '../../use-loaded.ts';

type Correspondent = ReplyTo<'listCorrespondents'>['correspondents'][number];

/** The correspondents, each with its next reply. A correspondent can be added and removed. */
export function Correspondents({ correspondents }: { readonly correspondents: readonly Correspondent[] }) {
  const action = useAction();
  return (
    <details class="card">
      <summary>{countOf(correspondents.length, 'correspondent', 'correspondents')}</summary>
      <ul class="rows">
        {correspondents.map((one) => (
          <li key={one.id}>
            <UserText inside="strong" text={one.address} /> <span class="soft">{one.kind}</span>{' '}
            <UserText text={describeReplies(one)} />
            <span class="buttons">
              <button
                type="button"
                class="quiet danger"
                onClick={() => action.run((client) => client.removeCorrespondent({ id: one.id }))}
              >
                <Icon of={Trash2} /> Remove <span class="hidden">{one.address}</span>
              </button>
            </span>
          </li>
        ))}
      </ul>
      <AddForm action={action} />
      <Failure error={action.error} />
    </details>
  );
}

function AddForm({ action }: { readonly action: ReturnType<typeof useAction> }) {
  const { client } = useInspector();
  const add = async (data: FormData, form: HTMLFormElement) => {
    await client.addCorrespondent({ address: textIn(data, 'address'), replies: [textIn(data, 'reply')] });
    form.reset();
  };
  return (
    <Form className="inline" submit={(data, { currentTarget }) => action.run(() => add(data, currentTarget))}>
      <TextField label="Address" name="address" required />
      <TextField label="Answer to the next mail" name="reply" required />
      <Button icon={UserPlus} text="Add a correspondent" type="submit" />
    </Form>
  );
}

/** Returns how many replies are left, and what the next one says. */
function describeReplies({ replies, received, afterMs }: Correspondent): string {
  if (replies === null) return 'answered by a function';
  const left = Math.max(0, replies.length - received);
  const next = replies[received];
  if (!next) return `no reply left of ${replies.length}`;
  return `${countOf(left, 'reply', 'replies')} left; next, ${formatSpan(afterMs)} after a mail: “${next.text ?? ''}”`;
}
