/** A row that the router can find: a method and a path with parameters in braces, such as `{id}` or `{id}.html`. */
export interface Routable {
  readonly method: string;
  readonly path: string;
}

/** The rows of one path, by method. */
export type RowsByMethod<Row extends Routable> = ReadonlyMap<string, Row>;

/** Finds the rows of a path by its encoded segments; returns `undefined` for an unknown path. */
export type Router<Row extends Routable> = (segments: readonly string[]) => RowsByMethod<Row> | undefined;

interface Node<Row> {
  readonly literals: Map<string, Node<Row>>;
  readonly rows: Map<string, Row>;
  /** What follows a parameter, with the fixed ending of its segment; the longest ending comes first. */
  readonly parameters: { readonly ending: string; readonly node: Node<Row> }[];
}

/** Compiles a table into a tree of path segments, so that the look-up time does not grow with the table. */
export function createRouter<Row extends Routable>(table: readonly Row[]): Router<Row> {
  const root = createNode<Row>();
  for (const row of table) addRow(root, row);
  return (segments) => findRows(root, segments, 0);
}

/** Splits a path such as `/v1/webhooks` into its segments. */
export function splitPath(path: string): string[] {
  return path.split('/').slice(1);
}

/** Reads the parameters of a row's path from the decoded segments of a request. */
export function readParams(row: Routable, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [index, segment] of splitPath(row.path).entries()) {
    const [, name, ending = ''] = PARAMETER.exec(segment) ?? [];
    if (name !== undefined) params[name] = (segments[index] ?? '').slice(0, -ending.length || undefined);
  }
  return params;
}

/** A segment with a parameter, and the fixed ending behind it. */
const PARAMETER = /^\{(\w+)\}(.*)$/;

function createNode<Row>(): Node<Row> {
  return { literals: new Map(), rows: new Map(), parameters: [] };
}

function addRow<Row extends Routable>(root: Node<Row>, row: Row): void {
  const step = (node: Node<Row>, segment: string) => {
    const ending = PARAMETER.exec(segment)?.[2];
    return ending === undefined ? literalOf(node, segment) : parameterOf(node, ending);
  };
  splitPath(row.path).reduce(step, root).rows.set(row.method, row);
}

function parameterOf<Row>({ parameters }: Node<Row>, ending: string): Node<Row> {
  const known = parameters.find((parameter) => parameter.ending === ending);
  if (known) return known.node;
  const node = createNode<Row>();
  parameters.push({ ending, node });
  parameters.sort((one, other) => other.ending.length - one.ending.length);
  return node;
}

function literalOf<Row>(node: Node<Row>, segment: string): Node<Row> {
  const next = node.literals.get(segment) ?? createNode<Row>();
  node.literals.set(segment, next);
  return next;
}

/** Tries a literal segment first, and a parameter only if the literal does not lead to any row. */
function findRows<Row extends Routable>(
  node: Node<Row>,
  segments: readonly string[],
  index: number,
): RowsByMethod<Row> | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.rows.size > 0 ? node.rows : undefined;
  const literal = node.literals.get(segment);
  const found = literal && findRows(literal, segments, index + 1);
  if (found) return found;
  const isMatch = ({ ending }: { readonly ending: string }) =>
    segment.length > ending.length && segment.endsWith(ending);
  const parameter = node.parameters.find(isMatch);
  return parameter && findRows(parameter.node, segments, index + 1);
}
