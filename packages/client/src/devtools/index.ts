export { explainQuery, type QueryLoop } from './explain-query.ts';
export { liveQueries, type LiveQueryInfo } from './live-queries.ts';
export { openDevtools, type Devtools } from './open-devtools.ts';
