/** Whether somebody has begun the notes. No parameters. */
export const notesBegun = `SELECT EXISTS (SELECT 1 FROM notes WHERE id = 'budget') AS begun`;
