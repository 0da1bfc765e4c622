import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The files with a certificate and its key. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Returns whether certificates can be made; CI needs them. */
export const HAS_OPENSSL = process.env.CI !== undefined || spawnSync('openssl', ['version']).status === 0;

/** Makes a certificate of this machine, which signs itself, in a folder. */
export function makeCertificate(folder: string, name = 'server'): CertificateFiles {
  const files = { cert: join(folder, `${name}-cert.pem`), key: join(folder, `${name}-key.pem`) };
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', files.key, '-out', files.cert],
  ]);
  if (status !== 0) throw new Error(`openssl cannot make a certificate: ${stderr}`);
  return files;
}
