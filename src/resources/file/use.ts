import { pgTable, text } from 'drizzle-orm/pg-core';
import { keyColumns } from '../../db/schema/columns.js';
import type { Link } from '../../db/list/statement.js';

/**
 * Which objects of a kind use a file: a view of `drizzle/functions/person/file-use.sql`, with a row per object and
 * file. The views are not in the files of the tables, because the migrations are generated from those files.
 */
function useOf(view: string): Link {
  const links = pgTable(view, { ...keyColumns(), fileId: text('file_id').notNull() });
  return { links, parent: links.fileId, child: links.id, selective: true };
}

export const usedByAccount = useOf('account_file');
export const usedByAddress = useOf('address_file');
export const usedByPerson = useOf('person_file');
export const usedByReceivable = useOf('receivable_file');
