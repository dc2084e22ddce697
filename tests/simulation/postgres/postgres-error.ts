/** An error of PostgreSQL with its SQLSTATE. */
export class PostgresError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`PostgreSQL: ${code}`);
    this.code = code;
  }
}
