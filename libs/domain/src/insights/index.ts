export { countedFacts } from './counted-facts.js';
