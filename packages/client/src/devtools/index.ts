export { openDevtools, type Devtools } from './open-devtools.ts';
