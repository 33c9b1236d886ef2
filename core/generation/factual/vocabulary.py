"""Words that tell what a stretch of text is: months, units, ordinals, hedges, opposites, by language.

Small lists on purpose: what they miss is found by its shape or by the parser. Language tags without region.
"""

_MONTHS = {
    "en": "January|Jan February|Feb March|Mar April|Apr May June|Jun July|Jul August|Aug September|Sep October|Oct "
    "November|Nov December|Dec",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
    "pl": "stycznia lutego marca kwietnia maja czerwca "
    "lipca sierpnia września października listopada grudnia",
    "ru": "января|январь|январе февраля|февраль|феврале марта|март|марте апреля|апрель|апреле мая|май|мае "
    "июня|июнь|июне июля|июль|июле августа|август|августе сентября|сентябрь|сентябре "
    "октября|октябрь|октябре ноября|ноябрь|ноябре декабря|декабрь|декабре",
    "uk": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "el": "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου "
    "Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
    "tr": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "he": "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
    "th": "มกราคม|ม.ค. กุมภาพันธ์|ก.พ. มีนาคม|มี.ค. เมษายน|เม.ย. พฤษภาคม|พ.ค. มิถุนายน|มิ.ย. กรกฎาคม|ก.ค. "
    "สิงหาคม|ส.ค. กันยายน|ก.ย. ตุลาคม|ต.ค. พฤศจิกายน|พ.ย. ธันวาคม|ธ.ค.",
    "hi": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
}
MONTHS: dict[str, tuple[tuple[str, ...], ...]] = {
    tag: tuple(tuple(month.split("|")) for month in names.split()) for tag, names in _MONTHS.items()
}
"""Forms of each month, that of dates first; a language that is not here writes months as numbers."""


def fraction_pattern(language: str) -> str:
    """A pattern for `two thirds`; one that never matches where the language has no list."""
    parts = "|".join(FRACTIONS.get(language, {}))
    numbers = "|".join(NUMBER_WORDS.get(language, "").split())
    return rf"(?P<count>(?i:{numbers}))[ -](?P<part>{parts})" if parts else r"(?!)"


def month_forms(language: str) -> tuple[str, ...]:
    """Every form of every month, the longest first."""
    forms = {form for row in MONTHS.get(language, ()) for form in row}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


_SYMBOLS = (
    "km² m² cm² km³ m³ cm³ km/h m/s km cm mm nm µm μm kg mg g t lb lbs oz ft mi mph ha L l ml mL cl °C °F "
    "K kHz MHz GHz Hz kW MW GW TWh kWh W kJ MJ J kPa hPa Pa bar V kV kB MB GB TB км² м² км/ч км м см мм "
    "кг г т л "
)
UNIT_SYMBOLS = tuple(_SYMBOLS.split())

UNIT_WORDS: dict[str, str] = {
    "en": "seconds? minutes? hours? days? weeks? months? years? decades? centur(?:y|ies) met(?:er|re)s? "
    "kilomet(?:er|re)s? centimet(?:er|re)s? millimet(?:er|re)s? miles? feet foot inch(?:es)? yards? acres? "
    "hectares? grams? kilograms? tons? tonnes? pounds? ounces? lit(?:er|re)s? gallons? degrees? watts? "
    "kilowatts? megawatts? people inhabitants persons? times",
    "de": "Sekunden? Minuten? Stunden? Tage? Tagen Wochen? Monate?n? Jahre?n? Jahrzehnte?n? Jahrhunderte?n? Metern? "
    "Kilometern? Zentimetern? Millimetern? Meilen? Gramm Kilogramm Tonnen? Litern? Grad Einwohnern? Menschen "
    "Personen Hektar",
    "fr": "secondes? minutes? heures? jours? semaines? mois ans? années? siècles? mètres? kilomètres? centimètres? "
    "millimètres? grammes? kilogrammes? tonnes? litres? degrés? habitants? personnes? hectares?",
    "es": "segundos? minutos? horas? días? semanas? mes(?:es)? años? siglos? metros? kilómetros? centímetros? "
    "milímetros? gramos? kilogramos? toneladas? litros? grados? habitantes? personas? hectáreas?",
    "it": "second[oi] minut[oi] or[ae] giorn[oi] settiman[ae] mes[ei] ann[oi] secol[oi] metr[oi] chilometr[oi] "
    "centimetr[oi] gramm[oi] chilogramm[oi] tonnellat[ae] litr[oi] grad[oi] abitanti persone ettari",
    "pt": "segundos? minutos? horas? dias? semanas? m(?:ês|eses) anos? séculos? metros? quilómetros? quilômetros? "
    "centímetros? gramas? quilogramas? toneladas? litros? graus? habitantes? pessoas?",
    "nl": "seconden? minuten? minuut uren uur dagen dag weken week maanden? jaar jaren eeuwen? meter kilometer "
    "centimeter gram kilogram ton liter graden inwoners mensen",
    "cs": "sekund\\p{L}* minut\\p{L}* hodin\\p{L}* dn[íy]\\p{L}* let rok\\p{L}* metr\\p{L}* kilometr\\p{L}* "
    "obyvatel stupňů",
    "pl": "sekund\\p{L}* minut\\p{L}* godzin\\p{L}* dni lat rok\\p{L}* metr\\p{L}* kilometr\\p{L}* mieszkańców stopni",
    "ru": "секунд\\p{L}* минут\\p{L}* час\\p{L}{0,2} дн\\p{L}{1,2} недел\\p{L}* месяц\\p{L}* год\\p{L}{0,2} лет "
    "век\\p{L}{0,2} метр\\p{L}* километр\\p{L}* сантиметр\\p{L}* грамм\\p{L}* килограмм\\p{L}* тонн\\p{L}? "
    "литр\\p{L}* градус\\p{L}* человек\\p{L}? жител\\p{L}*",
    "uk": "секунд\\p{L}* хвилин\\p{L}* годин\\p{L}* дн\\p{L}{1,2} рок\\p{L}{1,2} століт\\p{L}* метр\\p{L}* "
    "кілометр\\p{L}* грам\\p{L}* тонн\\p{L}? градус\\p{L}* людей мешканців",
    "el": "λεπτά ώρες ημέρες χρόνια έτη μέτρα χιλιόμετρα κιλά τόνοι βαθμούς κατοίκους άνθρωποι",
    "tr": "saniye dakika saat gün hafta ay yıl metre kilometre gram kilogram ton litre derece kişi",
    "ar": "ثانية دقيقة دقائق ساعة ساعات يوم[اًا]{0,2} أيام أسبوع شهر[اًا]{0,2} أشهر سنة سنوات عام[اًا]{0,2} أعوام متر[اًا]{0,2} "
    "كيلومتر[اًا]{0,2} كيلوغراما كيلوغرام غرام طن لتر درجة نسمة شخص",
    "he": "שניות דקות שעות ימים שבועות חודשים שנים שנה מטרים מטר קילומטרים קילומטר קילוגרם גרם טון ליטר מעלות תושבים אנשים",
    "hi": "सेकंड मिनट घंटे दिन सप्ताह महीने वर्ष साल मीटर किलोमीटर ग्राम किलोग्राम टन लीटर डिग्री लोग",
    "ja": "秒間? 分間? 時間 日間 週間 か月 ヶ月 年間 メートル キロメートル キロ センチ グラム キログラム トン リットル 度 人 倍 個 種類 階",
    "zh": "秒鐘? 秒钟? 分鐘 分钟 小時 小时 天 個月 个月 公里 千米 公尺 米 公斤 千克 克 噸 吨 公升 升 度 人 倍 個 个 種 种",
    "ko": "초 분 시간 일간 주 개월 년간 미터 킬로미터 그램 킬로그램 톤 리터 도 명 배 개",
    "th": "วินาที นาที ชั่วโมง วัน สัปดาห์ เดือน ปี เมตร กิโลเมตร กรัม กิโลกรัม ตัน ลิตร องศา คน",
}
"""Patterns of words that make a number a quantity."""

_SCALES = (
    "thousand million billion trillion dozen tausend Millionen? Milliarden? Billionen? mille "
    "millions? milliards? mil millones millón milhões milhão milhar mila milioni miliardi miljoen "
    "miljard тысяч\\p{L}* тыс\\. миллион\\p{L}* миллиард\\p{L}* млн млрд тисяч\\p{L}* мільйон\\p{L}* "
    "мільярд\\p{L}* tisíc miliony? milionů tysięcy milionów εκατομμύρια χιλιάδες milyon milyar ألف "
    "آلاف مليون ملايين مليار אלף מיליון מיליארד हज़ार लाख करोड़ "
)
SCALES = tuple(_SCALES.split())

NUMBER_WORDS: dict[str, str] = {
    "en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze quinze vingt trente quarante cinquante cent mille",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien mil",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta cinquanta cento mille",
    "pt": "dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta cem mil",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig honderd duizend",
    "ru": "два две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать двадцать тридцать сорок сто",
    "uk": "два дві три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять двадцять тридцять сорок сто",
}

FRACTIONS: dict[str, dict[str, int]] = {
    "en": {"thirds": 3, "quarters": 4, "fifths": 5, "sixths": 6, "eighths": 8, "tenths": 10},
    "de": {"Drittel": 3, "Viertel": 4, "Fünftel": 5, "Sechstel": 6, "Achtel": 8, "Zehntel": 10},
    "fr": {"tiers": 3, "quarts": 4, "cinquièmes": 5, "sixièmes": 6, "dixièmes": 10},
    "es": {"tercios": 3, "cuartos": 4, "quintos": 5, "sextos": 6, "décimos": 10},
}
"""Parts of a whole behind a number word, and how many of them make the whole."""

ORDINAL_WORDS: dict[str, str] = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth twentieth",
    "de": "erste[nrsm]? zweite[nrsm]? dritte[nrsm]? vierte[nrsm]? fünfte[nrsm]? sechste[nrsm]? siebte[nrsm]? zehnte[nrsm]?",
    "fr": "première? deuxième troisième quatrième cinquième sixième dixième",
    "es": "primer[oa]? segund[oa] tercer[oa]? cuart[oa] quint[oa] sext[oa] décim[oa]",
    "ru": "перв\\p{L}{2,3} втор\\p{L}{2,3} треть\\p{L}{1,3} четв[её]рт\\p{L}{2,3} пят(?:ый|ая|ое|ого|ой|ом)",
}

HEDGES: dict[str, str] = {
    "en": "approximately about roughly around nearly almost probably possibly perhaps likely usually generally often "
    "sometimes mostly mainly primarily largely partly typically rarely always never only exactly certainly "
    "frequently commonly at_least at_most more_than less_than up_to",
    "de": "ungefähr etwa rund fast beinahe wahrscheinlich vielleicht vermutlich meist meistens oft manchmal "
    "hauptsächlich teilweise selten immer nie nur genau mindestens höchstens mehr_als weniger_als",
    "fr": "environ presque probablement peut-être généralement souvent parfois principalement rarement toujours jamais "
    "seulement exactement au_moins au_plus plus_de moins_de",
    "es": "aproximadamente unos casi probablemente quizás generalmente frecuentemente principalmente raramente siempre "
    "nunca solo exactamente al_menos más_de menos_de",
    "it": "circa quasi probabilmente forse generalmente spesso principalmente raramente sempre mai soltanto esattamente almeno",
    "pt": "aproximadamente cerca_de quase provavelmente talvez geralmente frequentemente raramente sempre nunca apenas",
    "nl": "ongeveer bijna waarschijnlijk misschien meestal vaak soms voornamelijk zelden altijd nooit alleen precies minstens",
    "cs": "přibližně asi téměř pravděpodobně možná obvykle často někdy hlavně zřídka vždy nikdy pouze přesně",
    "pl": "około prawie prawdopodobnie może zwykle często czasami głównie rzadko zawsze nigdy tylko dokładnie",
    "ru": "примерно около почти вероятно возможно обычно часто иногда в_основном редко всегда никогда только точно",
    "uk": "приблизно близько майже ймовірно можливо зазвичай часто іноді переважно рідко завжди ніколи лише точно",
    "el": "περίπου σχεδόν πιθανώς ίσως συνήθως συχνά μερικές_φορές κυρίως σπάνια πάντα ποτέ μόνο ακριβώς",
    "tr": "yaklaşık neredeyse muhtemelen belki genellikle sık_sık bazen nadiren her_zaman asla yalnızca tam_olarak",
    "ar": "تقريبا تقريبًا حوالي نحو ربما غالبا غالبًا عادة أحيانا أحيانًا نادرا نادرًا دائما دائمًا أبدا فقط",
    "he": "בערך כמעט כנראה אולי בדרך_כלל לעתים_קרובות לפעמים בעיקר לעתים_רחוקות תמיד אף_פעם רק בדיוק",
    "hi": "लगभग क़रीब करीब शायद संभवतः आमतौर_पर अक्सर कभी-कभी मुख्यतः हमेशा केवल ठीक",
    "ja": "およそ ほぼ おそらく たぶん 通常 しばしば 時々 主に めったに 常に 必ず 少なくとも",
    "zh": "大约 大約 约有 約有 几乎 幾乎 可能 也许 也許 通常 经常 經常 有时 有時 主要 很少 总是 總是 从不 從不 至少",
    "ko": "약 거의 아마 아마도 보통 자주 가끔 주로 드물게 항상 결코 적어도",
    "th": "ประมาณ เกือบ อาจจะ บางที โดยทั่วไป มัก บางครั้ง ส่วนใหญ่ เสมอ ไม่เคย อย่างน้อย",
}
"""Words that say how sure, how often or how nearly; `_` stands for a space."""

ANTONYMS: dict[str, str] = {
    "en": "large small big little high low higher lower highest lowest long short longer shorter longest "
    "shortest old new older newer young ancient modern early late earlier later hot cold warm cool hotter colder "
    "strong weak stronger weaker strongest weakest fast slow faster slower rich poor deep shallow wide narrow thick "
    "thin heavy heavier lighter dark bright dry wet northern southern eastern western north south "
    "east west inner outer upper left right increase decrease increased decreased increases decreases "
    "rise fall more less most least many few maximum minimum positive negative public private direct indirect natural "
    "artificial legal illegal visible invisible before after above below inside outside largest smallest larger smaller "
    "common rare safe dangerous simple complex permanent temporary male female internal external",
    "de": "groß große großen großer großes klein kleine kleinen kleiner kleines hoch niedrig hohe hohen niedrige "
    "niedrigen lang kurz lange langen kurze kurzen alt neu alte alten neue neuen früh spät frühe späte heiß kalt "
    "heiße kalte warm kühl stark schwach starke schwache schnell langsam reich arm tief flach breit schmal schwer "
    "leicht dunkel hell trocken nass nördlich südlich östlich westlich größte größten kleinste kleinsten mehr weniger "
    "höher niedriger länger kürzer älter jünger",
    "fr": "grand grande grands grandes petit petite petits petites haut bas haute basse long court longue courte "
    "ancien nouveau ancienne nouvelle chaud froid chaude froide fort faible rapide lent riche pauvre profond large "
    "étroit lourd léger nord sud est ouest plus moins premier dernier",
    "es": "grande grandes pequeño pequeña pequeños pequeñas alto baja alta bajo largo corto larga corta antiguo nuevo "
    "antigua nueva caliente frío fuerte débil rápido lento rico pobre profundo ancho estrecho pesado ligero norte sur "
    "este oeste mayor menor más menos",
    "it": "grande piccolo piccola alto basso alta bassa lungo corto antico nuovo caldo freddo forte debole veloce lento "
    "nord sud est ovest maggiore minore",
    "pt": "grande pequeno pequena alto baixo alta baixa longo curto antigo novo quente frio forte fraco rápido lento "
    "norte sul leste oeste maior menor mais menos",
    "nl": "groot grote klein kleine hoog laag hoge lage lang kort oud oude nieuw nieuwe warm koud sterk zwak snel "
    "langzaam noord zuid oost west",
    "ru": "большой большая большие маленький маленькая высокий низкий высокая низкая длинный короткий старый новый "
    "старая новая горячий холодный сильный слабый быстрый медленный глубокий северный южный восточный западный больше "
    "меньше крупнейший крупнейшая",
    "uk": "великий велика малий мала високий низький довгий короткий старий новий гарячий холодний сильний слабкий "
    "північний південний східний західний більше менше",
    "pl": "duży duża mały mała wysoki niski długi krótki stary nowy gorący zimny północny południowy więcej mniej",
    "cs": "velký velká malý malá vysoký nízký dlouhý krátký starý nový horký studený severní jižní více méně",
    "el": "μεγάλος μεγάλη μεγάλο μικρός μικρή μικρό υψηλός χαμηλός παλιός νέος ζεστός κρύος βόρειος νότιος",
    "tr": "büyük küçük yüksek alçak uzun kısa eski yeni sıcak soğuk kuzey güney doğu batı",
    "ar": "كبير كبيرة صغير صغيرة طويل طويلة قصير قصيرة قديم قديمة جديد جديدة حار بارد شمال جنوب شرق غرب أكبر أصغر",
    "he": "גדול גדולה קטן קטנה גבוה נמוך ארוך קצר ישן חדש חם קר צפון דרום מזרח מערב",
    "hi": "बड़ा बड़ी छोटा छोटी ऊँचा नीचा लंबा पुराना नया गर्म ठंडा उत्तर दक्षिण पूर्व पश्चिम",
    "ja": "大きい 小さい 大きな 小さな 高い 低い 長い 短い 古い 新しい 熱い 冷たい 北部 南部 東部 西部 最大 最小",
    "zh": "最大 最小 最高 最低 最长 最短 北部 南部 东部 西部 東部 古老 现代 現代 增加 减少 減少",
    "ko": "큰 작은 높은 낮은 긴 짧은 오래된 새로운 북쪽 남쪽 동쪽 서쪽",
}
"""Words that have an opposite, whatever stands in for them."""

_OPENERS = (
    "additionally also although among another as because besides both despite during each finally first "
    "furthermore generally here however if in including instead interestingly it later like many "
    "meanwhile moreover most nevertheless once one originally other others second several similarly since "
    "some such the then there therefore these they this those though through thus today together "
    "typically unlike until usually when where while with yes no "
    "according based built called compared few following founded given known located made named using "
)
OPENERS = frozenset(_OPENERS.split())
"""English words that often begin a sentence; they are no names there."""
