export interface Line {
  readonly kind: 'database' | 'setup' | 'query';
  readonly sql: string;
}

export function scanQueries(count: number, seed: number, mostRows?: number): Generator<Line>;
