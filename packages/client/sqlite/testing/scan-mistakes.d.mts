export const MISTAKES: readonly {
  readonly name: string;
  readonly file?: string;
  readonly find: string;
  readonly replace: string;
}[];

export function withMistakes(file: string, text: string): string;
