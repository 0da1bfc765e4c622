import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { withoutDescriptions } from './without-descriptions.ts';

/** The parts of an OpenAPI document on which Prism acts. */
export interface CheckableDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, object>>;
  readonly components?: Readonly<Record<string, unknown>> | undefined;
}

type Operations = ReturnType<typeof getHttpOperationsFromSpec>;

const operationsByShape = new Map<string, Operations>();

/** Reads a document as Prism does, but each path once: most documents differ from others in few paths. */
export async function readOperations(document: CheckableDocument): Operations {
  const operations = Object.keys(document.paths).map((path) => {
    const shape = withoutDescriptions(withOnePath(document, path));
    const found = operationsByShape.get(shape) ?? getHttpOperationsFromSpec(JSON.parse(shape));
    operationsByShape.set(shape, found);
    return found;
  });
  return (await Promise.all(operations)).flat();
}

function withOnePath({ openapi, paths, components = {} }: CheckableDocument, path: string): object {
  const item = paths[path];
  const { securitySchemes } = components;
  return { openapi, paths: { [path]: item }, components: { securitySchemes, ...usedComponents(item, components) } };
}

/** Returns the components that a part of a document refers to, also through other components. */
function usedComponents(part: unknown, components: NonNullable<CheckableDocument['components']>) {
  const used: Record<string, Record<string, unknown>> = {};
  const pending = [part];
  while (pending.length > 0) {
    for (const [, kind = '', name = ''] of JSON.stringify(pending.pop()).matchAll(REFERENCE)) {
      used[kind] ??= {};
      if (name in used[kind]) continue;
      const component = (components[kind] as Record<string, unknown>)[name];
      used[kind][name] = component;
      pending.push(component);
    }
  }
  return used;
}

const REFERENCE = /"#\/components\/(\w+)\/([^"]+)"/g;
