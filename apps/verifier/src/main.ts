// One script for the page and for its thread: the thread runs the very text that the page was loaded with.
import { beginToJudge } from './judge.js';
import { beginToShow } from './page.js';

if (typeof document === 'undefined') beginToJudge();
else beginToShow(document.currentScript?.textContent ?? '');
