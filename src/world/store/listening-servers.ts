/** A server for SMTP or IMAP that listens. */
interface ListeningServer {
  /** The address at which it listens. */
  readonly host: string;
  /** The port on which it listens. */
  readonly port: number;
  /** Whether it has a certificate. */
  readonly hasTls: boolean;
}

/** The servers for mail that listen. */
export interface MailServersThatListen {
  /** The server for SMTP; left out if it is off. */
  smtp?: ListeningServer;
  /** The server for IMAP; left out if it is off. */
  imap?: ListeningServer;
}
