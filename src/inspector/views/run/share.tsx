import { FileCode, FileDown, Share2 } from 'lucide';
import { useRef } from 'preact/hooks';
import { Button, CopyButton, Failure, saveFile } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { useAction } from '../../use-loaded.ts';

/** A button that opens a dialog, in which a run can be saved as a trace or as a page, and its link copied. */
export function Share() {
  const dialog = useRef<HTMLDialogElement>(null);
  const { run, error, isRunning } = useAction();
  const { sandbox } = useScope();
  const save = (name: string, write: (trace: Blob) => Blob | Promise<Blob>) =>
    run(async (client) => saveFile(name, await write(await client.readTrace({}, { sandbox }))));
  const saveAsPage = () => save('run.html', async (trace) => (await import('../live-views.ts')).writeOwnPage(trace));
  return (
    <>
      <Button icon={Share2} text="Share" onClick={() => dialog.current?.showModal()} />
      <dialog ref={dialog} class="share-dialog" aria-labelledby="share-title">
        <form method="dialog">
          <h2 id="share-title">Share this run</h2>
          <p class="soft">
            The files have everything {sandbox === undefined ? 'of every tenant' : 'of this sandbox'} since the start or
            the latest reset. Keys and secrets in them are masked.
          </p>
          <dl class="facts">
            <div>
              <dt>
                <Button icon={FileCode} text="Save as one page" disabled={isRunning} onClick={saveAsPage} />
              </dt>
              <dd>An HTML file that shows the run in any browser, without the emulator.</dd>
            </div>
            <div>
              <dt>
                <Button
                  icon={FileDown}
                  text="Save the trace"
                  disabled={isRunning}
                  onClick={() => save('trace.jsonl', (trace) => trace)}
                />
              </dt>
              <dd>
                A file for <code>npx agent-mailbox-mock show</code> and for programs.
              </dd>
            </div>
            <div>
              <dt>
                <CopyButton text={location.href} label="Copy link" />
              </dt>
              <dd>To this view with its filters, as long as this emulator runs.</dd>
            </div>
          </dl>
          <Failure error={error} />
          <p>
            <button type="submit">Close</button>
          </p>
        </form>
      </dialog>
    </>
  );
}
