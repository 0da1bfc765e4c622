import { OPERATION_IDS, OPERATIONS, type OperationId } from '../contract/operations.ts';

/** A row of the operation table with its id. */
export type OperationRow = { readonly [Id in OperationId]: { readonly id: Id } & (typeof OPERATIONS)[Id] }[OperationId];

/** The operation table as a list. */
export const OPERATION_ROWS = OPERATION_IDS.map((id) => ({ id, ...OPERATIONS[id] })) as OperationRow[];
