/** An error of PostgreSQL with its SQLSTATE. */
export class PostgresError extends Error {
  readonly code: string;

  constructor(code: string, message: string = `PostgreSQL: ${code}`) {
    super(message);
    this.code = code;
  }
}
