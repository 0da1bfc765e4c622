// The only function of date-fns that @mswjs/data uses. From CommonJS, it would load all of them.
export { default as compareAsc } from 'date-fns/esm/compareAsc/index.js';
