import './styles/page.css';
import './styles/plain.css';
import './styles/panel.css';
import './styles/narrow.css';
import { startBar } from './bar.js';
import { startPanel } from './panel.js';
import { startPlain } from './plain.js';

// The theme that was chosen in the editor, which sets it for itself when it is there.
const theme = sessionStorage.getItem('graphiql:theme');
if (theme === 'dark' || theme === 'light') document.body.classList.add(`graphiql-${theme}`);

startPlain();
startPanel();
startBar();
