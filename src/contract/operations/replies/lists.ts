import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { metadata, timestamp, uuid } from '../../schemas.ts';
import { deleteReplies } from './common.ts';

const entry = () =>
  z.strictObject({
    id: uuid(),
    email: z.string(),
    displayName: z.string().nullable(),
    metadata: metadata().nullable(),
    createdAt: timestamp(),
  });

const list = () =>
  z.strictObject({
    id: uuid(),
    name: z.string(),
    description: z.string().nullable(),
    entryCount: z.int(),
    entries: z.array(entry()),
    createdAt: timestamp(),
  });

const listed = () => ({ included: list(), omitted: list().omit({ entries: true }) });

/** The bodies of the successful replies of these operations. */
export const listReplies = defineReplies({
  createList: list,
  listLists: (readBehaviour) => z.strictObject({ lists: z.array(listed()[readBehaviour('lists.list.entries')]) }),
  getList: list,
  deleteList: (readBehaviour) => deleteReplies()[readBehaviour('lists.delete.body')],
  createListEntry: entry,
  listListEntries: () => z.strictObject({ entries: z.array(entry()) }),
  getListEntry: entry,
  deleteListEntry: (readBehaviour) => deleteReplies()[readBehaviour('lists.entries.delete.body')],
});
