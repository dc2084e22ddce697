import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const DEPLOY_FOLDER: string = fileURLToPath(new URL('../deploy/', import.meta.url));

/** The start command and environment of the Dockerfile's last stage, and the commands of its first stage. */
export interface ImageSteps {
  /** The shell commands of the first stage, in order. */
  readonly builds: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** Reads the part of the Dockerfile syntax that ours uses. */
export function readDockerfile(): ImageSteps {
  const lines = readFileSync(`${DEPLOY_FOLDER}Dockerfile`, 'utf8').replaceAll('\\\n', ' ').split('\n');
  const stages: string[][] = [];
  for (const line of lines) {
    if (line.startsWith('FROM ')) stages.push([]);
    stages.at(-1)?.push(line);
  }
  const [build = [], image = []] = stages;
  const of = (stage: readonly string[], instruction: string): string[] =>
    stage.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
  const environment = of(image, 'ENV')
    .flatMap((line) => line.split(' '))
    .map((pair) => pair.split('=', 2) as [string, string]);
  const defaults = Object.fromEntries(of(image, 'ARG').map((line) => line.split('=', 2) as [string, string]));
  return {
    builds: of(build, 'RUN'),
    environment: Object.fromEntries(
      environment.map(([name, value]) => [
        name,
        value.replace(/\$\{(\w+)\}/g, (_, arg: string) => defaults[arg] ?? ''),
      ]),
    ),
    command: JSON.parse(of(image, 'CMD')[0] ?? '[]') as string[],
  };
}
