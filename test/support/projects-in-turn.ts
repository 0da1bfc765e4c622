import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest begin first: so no worker has nothing to do while another ends one. */
const LONGEST = [
  ...['growth/growth', 'readme', 'inspector/shell', 'state/state-file', 'types/compiler'],
  ...['verify/verify-command', 'verify/verify-profiles', 'verify/verify-breaks', 'properties/model'],
  ...['samples/run-samples', 'samples/samples', 'openapi/openapi', 'access/policy', 'control/long-lists'],
  ...['mail/large-mail', 'sandboxes/sandbox-controls', 'control/delivery-controls', 'properties/properties'],
  ...['websocket/stream-backlog', 'imap/imap-hostile', 'imap/imap-property', 'delivery/deliveries-log'],
];

/** Shuffles the files of each project, and lets no project begin before the one that is listed above it. */
export class ProjectsInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = this.ctx.projects.map(({ name }) => name);
    const keyOf = ({ project, moduleId }: TestSpecification) => {
      const place = String(places.indexOf(project.name)).padStart(3, '0');
      const rank = LONGEST.some((name) => moduleId.endsWith(`/${name}.test.ts`)) ? '0' : '1';
      return place + rank + createHash('sha1').update(`${this.ctx.config.sequence.seed} ${moduleId}`).digest('hex');
    };
    const keyed = files.map((file) => ({ file, key: keyOf(file) }));
    return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ file }) => file);
  }
}
