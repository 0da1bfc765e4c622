import type { TenantIds, TenantKeys } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { BehaviourChanges } from '../mailbox/without-msw.ts';
import type { MailboxServer } from '../server/index.ts';
import { startWithGuest } from '../server/start-server.ts';
import { ControlDoor } from './control-door.ts';
import type { ParsedScenario } from './parse-scenarios.ts';
import type { TrialScope } from './run-trial.ts';
import { createTrialFixture } from './trial-fixture.ts';

/** An emulator with any fixture. */
type AnyServer = MailboxServer<Record<string, string | TenantKeys>, Record<string, TenantIds>>;

/** An emulator that was started, and the first domain of its first tenant, which a sandbox replaces by its own. */
interface Started extends AsyncDisposable {
  readonly server: AnyServer;
  readonly written: string;
  readonly door: ControlDoor;
}

/** How emulators are started. */
export interface EmulatorOptions {
  /** The fixture; its first tenant is the one of the agent. Default: the default fixture, with empty inboxes. */
  readonly fixtures?: FixtureInput | undefined;
  /** The port of the first emulator. Default: a free one. */
  readonly port?: number | undefined;
  /** Whether the emulators also serve IMAP and SMTP, on free ports. */
  readonly servesMail: boolean;
  /** Whether the keys and passwords are those of the fixture, because an agent that runs already knows no others. */
  readonly keepsSecrets?: boolean | undefined;
  /** Whether the shared agent may control the emulator. */
  readonly sharedMayControl?: boolean | undefined;
}

/** The name of the checkpoint with the state at the start of each trial. */
const START = 'start-of-trial';

/**
 * The emulators of an evaluation: one for each agent and each set of behaviours, in which each trial has a sandbox, and one
 * for each trial whose steps change behaviours or whose agent may control the emulator. Two agents have no emulator in
 * common, because the sandboxes of their trials have the same domains and ids.
 */
export class Emulators implements AsyncDisposable {
  readonly #options: EmulatorOptions;
  readonly #started = new Map<string, Promise<Started>>();
  #shared: Promise<Started> | undefined;
  /** Whether an emulator was started. Only the first one listens on the given port. */
  #hasStarted = false;

  constructor(options: EmulatorOptions) {
    this.#options = options;
  }

  /**
   * Calls a function with a sandbox for a trial of an agent, by its number, which is closed afterwards. `seed` decides its
   * ids and its domain.
   */
  async withSandbox<Result>(
    scenario: ParsedScenario,
    { seed, agent }: { readonly seed: number; readonly agent: number },
    use: (scope: TrialScope) => Promise<Result>,
  ): Promise<Result> {
    const changesBehaviours = scenario.steps.some(({ name }) => name === 'behaviours');
    if (changesBehaviours || scenario.agent.control) {
      await using started = await this.#start(scenario.behaviours, scenario.agent.control);
      return await use(scopeOfSandbox(started, seed));
    }
    const key = JSON.stringify([agent, Object.entries(scenario.behaviours).sort()]);
    const started = this.#started.get(key) ?? this.#start(scenario.behaviours);
    this.#started.set(key, started);
    const scope = scopeOfSandbox(await started, seed);
    const endTrial = scope.door.addTrial(scope.ids.tenant, textsIn(scope.keys));
    try {
      return await use(scope);
    } finally {
      endTrial();
      (scope.mailbox as { close?(): void }).close?.();
    }
  }

  /** The one emulator of an agent that serves all trials; its first tenant is used by one trial after the other. */
  async shared(): Promise<TrialScope> {
    this.#shared ??= this.#start({}, this.#options.sharedMayControl);
    const { server, written, door } = await this.#shared;
    const { mailbox } = server;
    const tenants = mailbox.snapshot().tenants;
    const keys = Object.values(mailbox.keys).find((each): each is TenantKeys => typeof each === 'object');
    const [ids] = Object.values(mailbox.ids);
    if (!keys || !ids) throw new Error('The fixture has no tenant.');
    const rows = tenants.flatMap(({ inboxes }) => inboxes);
    const logins = Object.entries(ids.inboxes).flatMap(([handle, id]) => {
      const row = rows.find((each) => each.id === id);
      const login = row && { user: `${row.username}@${row.domain}`, password: String(row.imapPassword) };
      return login ? [[handle, login] as const] : [];
    });
    return {
      mailbox: mailbox as never,
      whole: mailbox as never,
      url: server.url,
      keys,
      ids,
      logins: Object.fromEntries(logins),
      ports: portsOf(server),
      domain: { written, actual: written },
      sandbox: undefined,
      door,
    };
  }

  /** Restores the shared emulator to the state that `keep` has kept, with the behaviours of a scenario. */
  async restore({ behaviours }: ParsedScenario): Promise<void> {
    const { whole } = await this.shared();
    whole.restore(START);
    if (Object.keys(behaviours).length > 0) whole.changeBehaviours(behaviours);
  }

  /** Keeps the present state of the shared emulator, for `restore`. */
  async keep(): Promise<void> {
    (await this.shared()).whole.checkpoint(START);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = [...this.#started.values(), ...(this.#shared ? [this.#shared] : [])];
    // An emulator that could not start has nothing to close; who waited for it has got the error.
    const servers = (await Promise.allSettled(started)).flatMap((each) =>
      each.status === 'fulfilled' ? each.value : [],
    );
    await Promise.all(servers.map(({ server }) => server.close()));
  }

  async #start(behaviours: BehaviourChanges, mayControl = false): Promise<Started> {
    const { fixtures, port = 0, servesMail, keepsSecrets = false } = this.#options;
    const door = new ControlDoor(mayControl);
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    const mailPorts = servesMail ? { smtpPort: 0, imapPort: 0 } : {};
    const options = {
      ...mailPorts,
      port: isFirst ? port : 0,
      controlToken: door.owner,
      behaviours: behaviours as never,
      fixtures: (await createTrialFixture(fixtures, behaviours, !keepsSecrets)) as never,
    };
    const server = (await startWithGuest(options, door)) as unknown as AnyServer;
    const written = server.mailbox.snapshot().tenants[0]?.domains[0]?.domain ?? '';
    return { server, written, door, [Symbol.asyncDispose]: () => server.close() };
  }
}

function scopeOfSandbox({ server, written, door }: Started, seed: number): TrialScope {
  const { mailbox, url } = server;
  const sandbox = mailbox.createSandbox({ seed, secrets: 'random', journal: 'since-start', name: 'evaluate' });
  return {
    mailbox: sandbox as never,
    whole: mailbox as never,
    url,
    keys: sandbox.keys as TenantKeys,
    ids: sandbox.ids as TenantIds,
    logins: sandbox.logins as TrialScope['logins'],
    ports: portsOf(server),
    domain: { written, actual: sandbox.domain },
    sandbox: sandbox.id,
    door,
  };
}

/** Returns all texts of an object and of the objects in it. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function portsOf({ smtp, imap }: AnyServer): TrialScope['ports'] {
  return { smtp: smtp?.port, imap: imap?.port };
}
