/** Whether a note exists. Parameter: its id. */
export const noteBegun = `SELECT EXISTS (SELECT 1 FROM notes WHERE id = ?) AS begun`;

/** The plain text of a note. Blank lines at its ends do not count. */
const noteText = `(SELECT trim(coalesce(group_concat(run.value ->> 'insert', '' ORDER BY run.key), ''), char(10, 32)) FROM json_each(notes.content, '$.body') AS run)`;

/** 1 if the note of `entry` has text, as a column for a query that has `entry`. */
export const entryHasNote = `EXISTS (SELECT 1 FROM notes WHERE id = 'entry/' || entry.id AND ${noteText} <> '')`;

/**
 * The rowids of entries whose note contains a text. Notes are few, so they are read one by one. Parameter: the
 * text as a pattern.
 */
export const entriesWithNote = `
  SELECT entries.rowid FROM notes JOIN entries ON entries.id = substr(notes.id, length('entry/') + 1)
  WHERE notes.id BETWEEN 'entry/' AND 'entry0' AND ${noteText} GLOB ?`;
