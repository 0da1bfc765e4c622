import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { readBuiltFile } from './serve-inspector.ts';

/**
 * Reads the JSON Schema of scenarios, or that of the report of an evaluation. They were written when the package was built,
 * because a server has no code that reads scenarios.
 *
 * @throws {ApiError} NOT_FOUND if it was not built.
 */
export async function readEvaluateSchema(name: 'scenario' | 'evaluation'): Promise<Readonly<Record<string, unknown>>> {
  const packed = await readBuiltFile(`${name}.schema.json.br`);
  return JSON.parse((await promisify(brotliDecompress)(packed)).toString('utf8'));
}
