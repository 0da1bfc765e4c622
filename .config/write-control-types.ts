import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTs, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { createControlOpenApi } from '../src/control/describe-control.ts';
import { CONTROL_TABLE } from '../src/control/table.ts';

/** Writes the types of the control plane for the inspector, which are not in git. */
const document = createControlOpenApi(CONTROL_TABLE) as unknown as OpenAPI3;
const file = fileURLToPath(new URL('../src/inspector/control-plane.d.ts', import.meta.url));
writeFileSync(file, astToString(await openapiTs(document)));
