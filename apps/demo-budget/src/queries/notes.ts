/** Whether somebody has begun a note. Parameter: its id. */
export const noteBegun = `SELECT EXISTS (SELECT 1 FROM notes WHERE id = ?) AS begun`;
