import { Trash2, UserPlus } from 'lucide';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { countOf, Failure, Field, Icon } from '../../parts.tsx';
import { UserText } from '../../text.tsx';
import { formatSpan } from '../../time.tsx';
import { useAction } from '../../use-loaded.ts';

type Correspondent = ReplyTo<'listCorrespondents'>['correspondents'][number];

/** Who answers mail from outside, with what comes next; a person can be added and removed. */
export function Correspondents({ correspondents }: { readonly correspondents: readonly Correspondent[] }) {
  const { client } = useInspector();
  const action = useAction();
  return (
    <details class="card">
      <summary>{countOf(correspondents.length, 'correspondent', 'correspondents')}</summary>
      <ul class="rows">
        {correspondents.map((one) => (
          <li key={one.id}>
            <strong>
              <UserText text={one.address} />
            </strong>{' '}
            <span class="soft">{one.kind}</span> <UserText text={describeReplies(one)} />
            <span class="buttons">
              <button
                type="button"
                class="quiet danger"
                onClick={() => action.run(() => client.removeCorrespondent({ id: one.id }))}
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
  const [address, setAddress] = useState('');
  const [reply, setReply] = useState('');
  const add = async () => {
    await client.addCorrespondent({ address, replies: [reply] });
    setAddress('');
    setReply('');
  };
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(add);
      }}
    >
      <Field label="Address">
        <input required value={address} onInput={(event) => setAddress(event.currentTarget.value)} />
      </Field>
      <Field label="Answer to the next mail">
        <input required value={reply} onInput={(event) => setReply(event.currentTarget.value)} />
      </Field>
      <button type="submit">
        <Icon of={UserPlus} /> Add a correspondent
      </button>
    </form>
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
