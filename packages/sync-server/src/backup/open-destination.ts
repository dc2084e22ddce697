import { resolve } from 'node:path';
import { isHttpUrl } from '../auth/http-url.ts';
import type { Destination } from './destination.ts';
import { FolderDestination } from './folder-destination.ts';
import { S3Destination } from './s3-destination.ts';

/** Where copies are kept, as plain data. Credentials are never part of it: they come from the environment. */
export interface BackupPlace {
  /** `s3://bucket/prefix`, or a folder. */
  readonly to: string;
  /**
   * The endpoint of S3-compatible storage other than AWS. Default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or AWS
   * itself.
   */
  readonly endpoint?: string | undefined;
  /** The region. Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`. */
  readonly region?: string | undefined;
  /** Whether the bucket is in the path of URLs instead of the host name. Default: false. */
  readonly pathStyle?: boolean | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/** An empty variable counts as missing, as in a compose file without values. */
function variable(environment: Environment, ...names: readonly string[]): string | undefined {
  return names.map((name) => environment[name] ?? '').find((value) => value !== '');
}

function endpointOf({ endpoint }: BackupPlace, environment: Environment): string | undefined {
  return endpoint ?? variable(environment, 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL');
}

/** The problems of a destination's settings, one sentence each. */
export function placeProblems(place: BackupPlace, environment: Environment): string[] {
  const { to } = place;
  const problems: string[] = [];
  if (to === '') problems.push('the destination of the backup must not be empty');
  if (/^[a-z0-9]+:\/\//i.test(to)) {
    if (!to.startsWith('s3://')) problems.push('the destination of the backup must be s3://BUCKET/PREFIX or a folder');
    else if (!S3_URL.test(to)) problems.push('the destination of the backup must name a bucket: s3://BUCKET/PREFIX');
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      if (variable(environment, name) === undefined) problems.push(`a backup to S3 needs ${name} in the environment`);
  }
  const endpoint = S3_URL.test(to) ? endpointOf(place, environment) : place.endpoint;
  if (endpoint !== undefined && !isHttpUrl(endpoint))
    problems.push('the endpoint of the backup must be a URL such as https://minio.example.org');
  // A host in JavaScript reads the text `false` from an environment variable.
  if (place.pathStyle !== undefined && typeof place.pathStyle !== 'boolean')
    problems.push('pathStyle of the backup must be true or false');
  return problems;
}

/** The caller has already checked the settings. */
export function openDestination(place: BackupPlace, environment: Environment): Destination {
  const [, bucket, prefix = ''] = S3_URL.exec(place.to) ?? [];
  if (bucket === undefined) return new FolderDestination(resolve(place.to));
  return new S3Destination({
    bucket,
    prefix: prefix.replaceAll(/^\/+|\/+$/g, ''),
    endpoint: endpointOf(place, environment),
    region: place.region ?? variable(environment, 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1',
    pathStyle: place.pathStyle ?? false,
    accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: variable(environment, 'AWS_SESSION_TOKEN'),
  });
}
