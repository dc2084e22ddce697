/** Whether somebody has begun a note. Parameter: its id. */
export const noteBegun = `SELECT EXISTS (SELECT 1 FROM notes WHERE id = ?) AS begun`;

/** The characters of a note, without their formats. Blank lines at its ends do not count. */
const noteText = `(SELECT trim(coalesce(group_concat(run.value ->> 'insert', '' ORDER BY run.key), ''), char(10, 32)) FROM json_each(notes.content, '$.body') AS run)`;

/** 1 where the note of `entry` says something, as a column of a query that has `entry`. */
export const entryHasNote = `EXISTS (SELECT 1 FROM notes WHERE id = 'entry/' || entry.id AND ${noteText} <> '')`;

/**
 * The entries whose note says it, by rowid. Of notes there are few: they are read one by one. Parameter: what is looked
 * for.
 */
export const entriesWithNote = `
  SELECT entries.rowid FROM notes JOIN entries ON entries.id = substr(notes.id, length('entry/') + 1)
  WHERE notes.id BETWEEN 'entry/' AND 'entry0' AND instr(lower(${noteText}), lower(?)) > 0`;
