/** A row that the router can find: a method and a path with parameters in braces. */
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
  parameter?: Node<Row>;
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
    if (isParameter(segment)) params[segment.slice(1, -1)] = segments[index] ?? '';
  }
  return params;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function createNode<Row>(): Node<Row> {
  return { literals: new Map(), rows: new Map() };
}

function addRow<Row extends Routable>(root: Node<Row>, row: Row): void {
  const step = (node: Node<Row>, segment: string) =>
    isParameter(segment) ? parameterOf(node) : literalOf(node, segment);
  splitPath(row.path).reduce(step, root).rows.set(row.method, row);
}

function parameterOf<Row>(node: Node<Row>): Node<Row> {
  node.parameter ??= createNode();
  return node.parameter;
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
  return found ?? (node.parameter && segment !== '' ? findRows(node.parameter, segments, index + 1) : undefined);
}
