/** The PostgreSQL schema of every table that the server keeps. */
export const NAMESPACE = 'rockpool';
