export { type ListenOptions, type MailboxServer, type ServerOptions, startServer } from './start-server.ts';
