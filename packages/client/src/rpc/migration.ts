/** One migration of the app, as drizzle-kit generates them. */
export interface Migration {
  /** Its name, by which it is remembered: `0003_add_due_date`. */
  readonly tag: string;
  /** Statements, with `--> statement-breakpoint` between them. */
  readonly sql: string;
}
