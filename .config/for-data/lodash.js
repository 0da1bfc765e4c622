// The only function of the main file of lodash that @mswjs/data uses. From CommonJS, it would load all of them.
export { default as isFunction } from 'lodash-es/isFunction.js';
