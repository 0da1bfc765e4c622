import { NAME, VERSION } from '../../../basics/version.ts';
import { findLogin } from '../../../service/access/principal.ts';
import { CommandError, needText, RefusedCommand, writeString } from '../../../service/imap/argument.ts';
import type { Command } from './parse-command.ts';
import { type CommandResult, type CommandTable, NO_REPLY, type Session } from './session.ts';

/** The capabilities of the server, without those for the login. */
const CAPABILITIES =
  'IMAP4rev1 LITERAL+ SASL-IR ID ENABLE IDLE NAMESPACE CHILDREN SPECIAL-USE LIST-EXTENDED LIST-STATUS UNSELECT ' +
  'UIDPLUS MOVE ESEARCH OBJECTID STATUS=SIZE';

/** Returns the capabilities of the server in the current state of the session. */
export function capabilitiesOf({ account, connection }: Session): string {
  if (account) return CAPABILITIES;
  const tls = connection.mayStartTls && !connection.isSecure ? ' STARTTLS' : '';
  return `${CAPABILITIES}${tls} ${connection.refusesLogin ? 'LOGINDISABLED' : 'AUTH=PLAIN AUTH=LOGIN'}`;
}

/** The commands that need no open folder and change no mail. */
export const LOGIN_COMMANDS: CommandTable = {
  any: {
    CAPABILITY: (session) => session.sendUntagged(`CAPABILITY ${capabilitiesOf(session)}`),
    NOOP() {},
    LOGOUT(session, _, { tag }) {
      session.sendUntagged('BYE See you.');
      session.connection.send(`${tag} OK LOGOUT is done.\r\n`);
      session.connection.end();
      return NO_REPLY;
    },
    ID(session, [parameters]) {
      if (session.takeFault('id-refused')) throw new CommandError('There is no command ID.');
      if (parameters === undefined) throw new CommandError('ID needs a list or NIL.');
      session.hasSentId = true;
      session.sendUntagged(`ID ("name" ${writeString(NAME)} "version" ${writeString(VERSION)})`);
    },
  },
  before: {
    async STARTTLS({ connection }, _, { tag }) {
      if (connection.isSecure) throw new CommandError('The connection is encrypted already.');
      if (!connection.mayStartTls) throw new CommandError('The server has no certificate for TLS.');
      connection.send(`${tag} OK Begin TLS now.\r\n`);
      await connection.startTls();
      return NO_REPLY;
    },
    LOGIN: (session, [user, password]) =>
      logIn(session, needText(user, 'The user'), needText(password, 'The password')),
    AUTHENTICATE: authenticate,
  },
  login: {
    ENABLE({ session }, args) {
      if (args.length === 0) throw new CommandError('ENABLE needs the name of a capability.');
      session.sendUntagged('ENABLED');
    },
    IDLE({ session }, _, command) {
      session.connection.send('+ idling\r\n');
      session.continueWith({
        command,
        isIdle: true,
        continue(line) {
          if (!/^done$/i.test(line.trim())) throw new CommandError('IDLE ends with DONE.');
        },
      });
      session.sendChangesWhileIdle();
      return NO_REPLY;
    },
  },
};

function logIn(session: Session, user: string, password: string): CommandResult {
  const { shared, connection } = session;
  if (connection.refusesLogin) throw new RefusedCommand('Use STARTTLS first.', 'PRIVACYREQUIRED');
  const [name = '', secret = ''] = [user, password].map((text) => Buffer.from(text, 'latin1').toString('utf8'));
  session.loginUser = name;
  const principal = findLogin(shared.service.worlds, name, secret);
  if (!principal || session.takeFault('login-refused', principal)) {
    session.wrongLogins += 1;
    const problem = 'The login is wrong; use the canonicalEmail of an inbox as the user, and its imapPassword.';
    throw new RefusedCommand(problem, 'AUTHENTICATIONFAILED');
  }
  if (session.takeFault('too-many-connections', principal)) {
    throw new RefusedCommand('The inbox has too many connections.', 'LIMIT');
  }
  session.logIn(principal);
  return { text: `[CAPABILITY ${capabilitiesOf(session)}] Logged in.`, messageIds: [] };
}

/** Logs in by SASL. The client may send its first answer together with the command. */
function authenticate(session: Session, args: Command['args'], command: Command): CommandResult {
  const mechanism = needText(args[0], 'The mechanism').toUpperCase();
  const firstAnswer = args[1] && needText(args[1], 'The answer').replace(/^=$/, '');
  if (mechanism === 'PLAIN') {
    const finish = (text: string) => {
      const [, user = '', password = ''] = decode(text).split('\0');
      return logIn(session, user, password);
    };
    return firstAnswer === undefined ? ask(session, command, '', finish) : finish(firstAnswer);
  }
  if (mechanism !== 'LOGIN') throw new RefusedCommand('Use PLAIN or LOGIN.');
  const askPassword = (user: string) =>
    ask(session, command, 'Password:', (password) => logIn(session, decode(user), decode(password)));
  return firstAnswer === undefined ? ask(session, command, 'Username:', askPassword) : askPassword(firstAnswer);
}

/** Asks the client for a line, and calls `next` with this line to continue the command. */
function ask(
  session: Session,
  command: Command,
  question: string,
  next: (line: string) => CommandResult,
): CommandResult {
  session.connection.send(`+ ${Buffer.from(question).toString('base64')}\r\n`);
  return session.continueWith({
    command,
    isIdle: false,
    continue(line) {
      if (line.trim() !== '*') return next(line.trim());
      throw new CommandError('The client has cancelled the login.');
    },
  });
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1');
}
