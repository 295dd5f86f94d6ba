import { createRoot } from 'react-dom/client';
import './design/base.css';
import { App } from './shell/app.tsx';

// After signing out, going back must not show the page that the browser kept in its back/forward cache.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
